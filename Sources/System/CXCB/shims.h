#ifndef ALDABA_CXCB_H
#define ALDABA_CXCB_H
#include <xcb/xcb.h>
#endif
