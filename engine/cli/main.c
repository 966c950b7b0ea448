/* plimsoll-engine: everything but the screen. */
#include "engine/cli/command.h"

int main(int argc, char **argv)
{
    return command_main(argc, argv, NULL);
}
