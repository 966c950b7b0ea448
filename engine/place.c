#include "engine/place.h"

#include <assert.h>

const char *place_name(enum place place)
{
    static const char *const names[] = {"server", "endpoint", "client"};

    assert(place < PLACE_COUNT);
    return names[place];
}
