/* families_fixture.h - the families of lines, made once for all tests of a program. */
#ifndef HS_TESTS_FAMILIES_FIXTURE_H
#define HS_TESTS_FAMILIES_FIXTURE_H

#include "parsers/families.h"

/* Set from families_make() to families_free(), which are a group's setup and teardown. */
extern struct hs_families *families;

int families_make(void **state);
int families_free(void **state);

#endif
