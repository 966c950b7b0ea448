# `make lint`: everything that can be found without running the program. mk/lint.sh
# takes the steps one by one; each builds in a directory of its own and again only
# what has changed.

lint:
	@sh mk/deps.sh lint
	@sh mk/lint.sh '$(BUILD)'

LINTED_HEADERS := $(filter %.h,$(CODE))
LINTED_SOURCES := $(filter %.c,$(CODE))

lint-objects: $(call OBJECTS,$(LINTED_SOURCES))

lint-tidy: $(LINTED_SOURCES:%.c=$(BUILD)/tidy/%.ok)

$(BUILD)/tidy/%.ok: %.c $(LINTED_HEADERS) .clang-tidy
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- $(ALL_CFLAGS) > $@.out 2>&1 || \
	  { grep -v 'warnings* generated' $@.out; exit 1; }
	@touch $@

# The product alone goes through the analyzer: it does not know that cmocka's
# assertions end a test. Leaks are left to the tests under the address sanitizer, since
# gcc 12 takes memory that is stored in a table for lost.
ifdef ANALYZE
$(call OBJECTS,$(filter-out tests/%,$(LINTED_SOURCES))): \
  private override CFLAGS += -fanalyzer -Wno-analyzer-malloc-leak
endif

.PHONY: lint lint-objects lint-tidy
