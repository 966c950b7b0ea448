# Tests: tests/test_*.c are cmocka programs, tests/test_*.sh are scripts that print
# "ok NAME" or "not ok NAME" a case; tests/run.sh runs them all and sums up.

TEST_PROGRAMS := $(addprefix $(BUILD)/tests/,$(TESTS))

$(BUILD)/tests/test_%: $(BUILD)/obj/tests/test_%.o $(BUILD)/libtestsupport.a \
                       $(BUILD)/libtui.a $(BUILD)/libengine.a $(BUILD)/libprotocols.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TUI_LIBS) $(ENGINE_LIBS) $(PROTOCOLS_LIBS) \
	  $(TEST_LIBS)

$(BUILD)/tests/%: $(BUILD)/obj/tests/main_%.o $(BUILD)/libengine.a $(BUILD)/libprotocols.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(ENGINE_LIBS) $(PROTOCOLS_LIBS) $(TEST_LIBS)

$(BUILD)/tests/bench_%: $(BUILD)/obj/tests/bench_%.o $(BUILD)/libengine.a \
                        $(BUILD)/libprotocols.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(ENGINE_LIBS) $(PROTOCOLS_LIBS)

test: test-deps
	@$(MAKE) --no-print-directory test-programs
	@sh tests/run.sh '$(BUILD)'

test-deps:
	@sh mk/deps.sh test

test-programs: all $(TEST_PROGRAMS) $(HELPERS)

asan:
	$(MAKE) BUILD=$(BUILD)-asan LDFLAGS='$(LDFLAGS)' ONCE_LDFLAGS= \
	  CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer' test

.PHONY: test test-deps test-programs asan
