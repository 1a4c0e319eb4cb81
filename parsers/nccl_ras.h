/* nccl_ras.h - what RAS says becomes events of one family, from text and from JSON. */
#ifndef HS_PARSERS_NCCL_RAS_H
#define HS_PARSERS_NCCL_RAS_H

#include "parsers/records_internal.h"

/* Its field `what` says what a statement is about; docs/formats/records.md lists the values. */
#define HS_RAS_FAMILY "RAS"

#endif
