# plimsoll: `make run` builds and starts it, `make test` runs the tests. Both first
# install what is missing (see `make deps`). Everything is built in $(BUILD).
#
#   all run test test-long test-clean-root asan lint format bench screenshots install deb
#   deps clean

BUILD   ?= build
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
VERSION := 0.1.0

include mk/flags.mk

SOURCES = $(sort $(wildcard $(addsuffix /*.c,$(1))))
OBJECTS = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

PROTOCOLS := $(filter-out protocols/stream/oneshot_main.c,$(call SOURCES,protocols protocols/*))
ENGINE    := $(call SOURCES,engine)
REPORT    := $(call SOURCES,engine/report)
CLI       := $(filter-out engine/cli/main.c,$(call SOURCES,engine/cli))
TUI       := $(filter-out tui/main.c,$(call SOURCES,tui))
# Every C file and header: what is formatted and linted.
CODE      := $(sort $(wildcard $(foreach d,protocols protocols/* engine engine/* tui tests tests/*, \
               $(d)/*.[ch])))
TESTS     := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))
SUPPORT   := $(filter-out tests/test_%.c tests/fuzz_%.c tests/bench_%.c tests/main_%.c, \
               $(wildcard tests/*.c))
PROGRAMS  := $(BUILD)/plimsoll $(BUILD)/plimsoll-engine $(BUILD)/plimsoll-once
# Programs that only the tests start: tests/main_NAME.c becomes build/tests/NAME, and
# tests/truth/NAME.c, of known answers, build/tests/truth_NAME.
HELPERS   := $(patsubst tests/main_%.c,$(BUILD)/tests/%,$(wildcard tests/main_*.c)) \
             $(patsubst tests/truth/%.c,$(BUILD)/tests/truth_%,$(wildcard tests/truth/*.c))

all: $(PROGRAMS)

# The libraries are the layers: each is linked whole, without the ones above it, by
# tests/test_layers.sh.
$(BUILD)/libprotocols.a: $(call OBJECTS,$(PROTOCOLS)) $(LLHTTP_OBJECTS)
$(BUILD)/libengine.a: $(call OBJECTS,$(ENGINE))
$(BUILD)/libreport.a: $(call OBJECTS,$(REPORT))
$(BUILD)/libcli.a: $(call OBJECTS,$(CLI))
$(BUILD)/libtui.a: $(call OBJECTS,$(TUI))
$(BUILD)/libtestsupport.a: $(call OBJECTS,$(SUPPORT))
$(BUILD)/lib%.a:
	@rm -f $@
	$(AR) rcs $@ $^

# In the order of linking: whoever calls stands before what is called.
ENGINE_LAYERS := $(addprefix $(BUILD)/,libcli.a libreport.a libengine.a libprotocols.a)
ALL_LAYERS    := $(BUILD)/libtui.a $(ENGINE_LAYERS)

$(BUILD)/plimsoll: $(BUILD)/obj/tui/main.o $(ALL_LAYERS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TUI_LIBS) $(ENGINE_LIBS) $(PROTOCOLS_LIBS)

$(BUILD)/plimsoll-engine: $(BUILD)/obj/engine/cli/main.o $(ENGINE_LAYERS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(ENGINE_LIBS) $(PROTOCOLS_LIBS)

# One request, then exit: linked statically, since process start is what it measures.
$(BUILD)/plimsoll-once: $(BUILD)/obj/protocols/stream/oneshot_main.o
	$(CC) $(CFLAGS) $(LDFLAGS) $(ONESHOT_LDFLAGS) -o $@ $^

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/llhttp/%.o: $(LLHTTP_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -w $(LLHTTP_CFLAGS) -c -o $@ $<

# Objects depend on the flags they were made with.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS)' > $@

include mk/tests.mk
include mk/lint.mk
include mk/bench.mk

run: deps
	@$(MAKE) --no-print-directory all
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BUILD)/plimsoll; \
	 else exec sh mk/quick.sh $(BUILD)/plimsoll-engine; fi

deps:
	@sh mk/deps.sh build

format:
	@clang-format -i $(CODE)

screenshots:
	@sh mk/deps.sh test
	@$(MAKE) --no-print-directory all $(BUILD)/tests/shot
	@sh mk/screenshots.sh '$(BUILD)'

install: all
	@sh mk/install.sh '$(BUILD)' '$(DESTDIR)' '$(PREFIX)'

# A Debian package of what was built, with Debian's own tools.
deb: all
	@sh mk/deb.sh '$(BUILD)' '$(VERSION)'

clean:
	rm -rf $(BUILD)

FORCE:
.PHONY: all run deps format screenshots install deb clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
