#include "families_fixture.h"

struct hs_families *families;

int families_make(void **state)
{
    struct hs_err err = { .n = 0 };

    (void)state;
    if (hs_families_new(&families, &err) == HS_OK)
        return 0;
    hs_err_print(&err, stderr);
    return 1;
}

int families_free(void **state)
{
    (void)state;
    hs_families_free(families);
    return 0;
}
