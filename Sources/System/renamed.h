// The functions of libraries that are opened when they are first needed have names of ours, so that nothing is linked.
// CVitrineAVIF and its like define them.
#ifndef VITRINE_RENAMED_H
#define VITRINE_RENAMED_H

#define VITRINE_RENAMED(NAME) __typeof__(NAME) NAME __asm__("vitrine_" #NAME);

#endif
