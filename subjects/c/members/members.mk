# For the Makefile of a subject whose partners are processes, which sets
#   SOURCE   the subject's folder: tests.c and start.c are the leader's (what it lists, how it starts the members), main.c is
#            the member's where it is not the usual one, the rest is for both
#   SYSTEM_CFLAGS, SYSTEM_LIBS   what the message-passing system wants
# Two programs come of it: `leader`, which speaks the protocol, and `member`. Where there is a task.c, a third one is made of it alone, `task`.

MEMBERS := $(SOURCE)/../c/members
KIT := $(SOURCE)/../c/kit
CFLAGS ?= -O2

ifeq ($(realpath $(SOURCE)),$(realpath $(CURDIR)))
$(error build in a folder of its own: mkdir -p /tmp/members && make -C /tmp/members -f $(CURDIR)/Makefile)
endif

ALWAYS = -std=c17 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -pthread -fno-lto -falign-functions=64 -falign-loops=64 -MMD -MP

# The kit's own main program is the leader's; a library, so that the member takes the rest of it only.
kit = $(patsubst $(KIT)/%.c,objects/kit/%.o,$(wildcard $(KIT)/*.c))
both = objects/members/channel.o objects/members/messages.o objects/members/member.o \
       $(patsubst $(SOURCE)/%.c,objects/system/%.o,$(filter-out %/tests.c %/start.c %/main.c %/task.c,$(wildcard $(SOURCE)/*.c)))

main = $(if $(wildcard $(SOURCE)/main.c),objects/system/main.o,objects/members/main.o)

all: leader member $(if $(wildcard $(SOURCE)/task.c),task)

leader: objects/system/tests.o objects/system/start.o objects/members/leader.o $(both) libkit.a
	$(CC) $(CFLAGS) -fno-lto -pthread -o $@ $^ $(SYSTEM_LIBS)

member: $(main) $(both) libkit.a
	$(CC) $(CFLAGS) -fno-lto -pthread -o $@ $^ $(SYSTEM_LIBS)

task: objects/system/task.o
	$(CC) $(CFLAGS) -fno-lto -o $@ $^ $(SYSTEM_LIBS)

libkit.a: $(kit)
	$(AR) rcs $@ $^

objects/kit/%.o: $(KIT)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(ALWAYS) -O2 -c -o $@ $<

objects/members/%.o: $(MEMBERS)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(ALWAYS) -I$(KIT) -c -o $@ $<

objects/system/%.o: $(SOURCE)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(ALWAYS) -I$(KIT) -I$(MEMBERS) $(SYSTEM_CFLAGS) -c -o $@ $<

-include $(wildcard objects/*/*.d)
