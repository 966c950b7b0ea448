# Tests: tests/test_*.c are cmocka programs, tests/test_*.sh are scripts that print
# "ok NAME" or "not ok NAME" a case; tests/run.sh runs them all and sums up.

TEST_PROGRAMS := $(addprefix $(BUILD)/tests/,$(TESTS))

$(BUILD)/tests/test_%: $(BUILD)/obj/tests/test_%.o $(BUILD)/libtestsupport.a $(ALL_LAYERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TUI_LIBS) $(ENGINE_LIBS) $(PROTOCOLS_LIBS) \
	  $(TEST_LIBS)

# Drives the console in a terminal of its own and takes pictures: `make screenshots`.
$(BUILD)/tests/shot: $(BUILD)/obj/tests/main_shot.o $(BUILD)/libtestsupport.a $(ALL_LAYERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TUI_LIBS) $(ENGINE_LIBS) $(PROTOCOLS_LIBS) \
	  $(TEST_LIBS)

# Linked as plimsoll-once is, since process start is among what it measures.
$(BUILD)/tests/yardstick: $(BUILD)/obj/tests/main_yardstick.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(ONESHOT_LDFLAGS) -o $@ $^

$(BUILD)/tests/truth_%: $(BUILD)/obj/tests/truth/%.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(BUILD)/tests/%: $(BUILD)/obj/tests/main_%.o $(ENGINE_LAYERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(ENGINE_LIBS) $(PROTOCOLS_LIBS) $(TEST_LIBS)

test: test-deps
	@$(MAKE) --no-print-directory test-programs
	@sh tests/run.sh '$(BUILD)'

test-deps:
	@sh mk/deps.sh test

test-programs: all $(TEST_PROGRAMS) $(HELPERS)

asan:
	$(MAKE) BUILD=$(BUILD)-asan LDFLAGS='$(LDFLAGS)' ONESHOT_LDFLAGS= \
	  CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer' test

# Fuzzing: every tests/fuzz_*.c is a libFuzzer program, run for FUZZ_SECONDS; FUZZ names
# some of them. They are built apart, by clang and with its sanitizers.
FUZZ_SECONDS ?= 60
FUZZ         ?= $(patsubst tests/%.c,%,$(wildcard tests/fuzz_*.c))
FUZZ_FLAGS   := -fsanitize=address,undefined -fno-sanitize-recover=undefined

$(BUILD)/tests/fuzz_%: $(BUILD)/obj/tests/fuzz_%.o $(BUILD)/libtestsupport.a $(ALL_LAYERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(TUI_LIBS) $(ENGINE_LIBS) \
	  $(PROTOCOLS_LIBS) $(TEST_LIBS)

fuzz:
	@sh mk/deps.sh fuzz
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-fuzz CC=clang \
	  CFLAGS='-O2 -g -fsanitize=fuzzer-no-link $(FUZZ_FLAGS)' fuzz-programs
	@sh mk/fuzz.sh '$(BUILD)-fuzz' '$(FUZZ_SECONDS)' $(FUZZ)

fuzz-programs: $(addprefix $(BUILD)/tests/,$(FUZZ))

# Everything that takes minutes: tests/long_*.sh, which print as tests/test_*.sh do, and
# the fuzz programs.
test-long:
	@sh mk/deps.sh long
	@$(MAKE) --no-print-directory test-programs
	$(if $(wildcard tests/long_*.sh),@TEST_SECONDS=3600 sh tests/run.sh '$(BUILD)' --long)
	@$(MAKE) --no-print-directory fuzz

# `make run` and `make test` in a fresh minimal system, of this machine's suite or of SUITE;
# needs root, and takes some minutes.
test-clean-root:
	@sh mk/deps.sh clean-root
	@sh mk/clean-root.sh $(SUITE)

.PHONY: test test-clean-root test-deps test-programs asan fuzz fuzz-programs test-long
