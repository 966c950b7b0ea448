#include "tui/run_chart.h"

static const struct run_chart *const charts[RUN_CHART_COUNT] = {
#define X(id) &run_chart_##id,
    RUN_CHART_LIST(X)
#undef X
};

const struct run_chart *run_chart(size_t index)
{
    return charts[index % RUN_CHART_COUNT];
}
