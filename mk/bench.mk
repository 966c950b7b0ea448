# `make bench`: tests/bench_*.c are programs and tests/bench_*.sh scripts that print a
# table each; mk/bench.sh runs them one after the other, since they would disturb each
# other. BENCH names some of them: make bench BENCH='bench_pacer bench_udp'.

BENCH_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/bench_*.c))

$(BUILD)/tests/bench_%: $(BUILD)/obj/tests/bench_%.o $(BUILD)/libtestsupport.a $(ALL_LAYERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TUI_LIBS) $(ENGINE_LIBS) $(PROTOCOLS_LIBS) \
	  $(TEST_LIBS)

bench:
	@sh mk/deps.sh bench
	@$(MAKE) --no-print-directory all bench-programs
	@sh mk/bench.sh '$(BUILD)' $(BENCH)

bench-programs: $(BENCH_PROGRAMS) $(HELPERS)

.PHONY: bench bench-programs
