# Compiler flags and libraries. CFLAGS and LDFLAGS are the user's; what the sources
# need stands in ALL_CFLAGS.

PKG_CONFIG ?= pkg-config

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wformat=2 -Wundef -Wpointer-arith \
  -Wcast-align -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes \
  -Wmissing-format-attribute -Wmissing-noreturn -Wvla -Wimplicit-fallthrough \
  -Wnull-dereference -Wdouble-promotion

pkg-cflags = $(shell $(PKG_CONFIG) --cflags $(1) 2>/dev/null)
pkg-libs = $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null)

# llhttp is a library of its own on newer systems; Debian 12 ships its C source.
ifneq ($(shell $(PKG_CONFIG) --exists libllhttp 2>/dev/null && echo yes),)
  LLHTTP_CFLAGS  := $(call pkg-cflags,libllhttp)
  LLHTTP_LIBS    := $(call pkg-libs,libllhttp)
  LLHTTP_OBJECTS :=
else
  LLHTTP_DIR     := /usr/share/llhttp
  # Strict, as later versions are without a switch.
  LLHTTP_CFLAGS  := -I/usr/share/include/llhttp -DLLHTTP_STRICT_MODE=1
  LLHTTP_OBJECTS := $(patsubst $(LLHTTP_DIR)/%.c,$(BUILD)/obj/llhttp/%.o, \
                      $(wildcard $(LLHTTP_DIR)/*.c))
endif

PROTOCOLS_LIBS := $(call pkg-libs,libevent_core libevent_extra zlib libcjson) $(LLHTTP_LIBS) -lm
ENGINE_LIBS    := $(call pkg-libs,libcjson)
TUI_LIBS       := $(call pkg-libs,ncursesw)
TEST_LIBS      := $(call pkg-libs,cmocka vterm)

# Tests use the assertions that cmocka 1.1 and 2 both have; 2 would rather have its own.
CMOCKA_CFLAGS := -DCMOCKA_DISABLE_DEPRECATION_WARNINGS

ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -DPLIMSOLL_VERSION='"$(VERSION)"' $(WARNINGS) \
  $(call pkg-cflags,libevent_core libcjson ncursesw) $(LLHTTP_CFLAGS) $(CMOCKA_CFLAGS) \
  $(CFLAGS)

# A static client program of few segments starts about a tenth faster; where there is
# no static C library the ordinary link does.
ONESHOT_STATIC  := -static -Wl,-z,noseparate-code -Wl,-z,norelro
ONESHOT_LDFLAGS := $(shell echo 'int main(void){return 0;}' | \
  $(CC) $(ONESHOT_STATIC) -o /dev/null -x c - 2>/dev/null && echo '$(ONESHOT_STATIC)')
