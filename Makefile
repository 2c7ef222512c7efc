# `make run` takes a first look: half a minute of each suite that needs only a C compiler and GNAT, and one page. `make run SUITES=all` measures all quick suites.
# `make test` runs all tests. All install what a Debian or Ubuntu lacks, but for Rust and Go.

PREFIX ?= /usr/local
DESTDIR ?=
REPORT ?= antiphon-report.html
SUITES ?=
ALL = features rendezvous models layer shared-data rest sql drivers
FIRST_LOOK = $(basename $(notdir $(shell grep -l '^\[first_look\]' suites/*.toml)))
CHOSEN = $(if $(filter all,$(SUITES)),$(ALL),$(SUITES))
LIBRARIES = $(or $(CARGO_TARGET_DIR),target)/release
ANTIPHON = $(LIBRARIES)/antiphon
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
LIBPANDA = libpanda.so.$(firstword $(subst ., ,$(VERSION)))
# PVM's libraries are not where a system's own programs look for theirs.
PVM = $(DESTDIR)$(PREFIX)/lib/antiphon/pvm

# Debian has mpicc in one package, and the headers that it needs in another.
MPI_H = $(firstword $(wildcard /usr/lib/*/openmpi/include/mpi.h) mpi.h)
RIVALS = mpirun=openmpi-bin $(MPI_H)=libopenmpi-dev /usr/include/zmq.h=libzmq3-dev pvmd=pvm /usr/include/pvm3.h=pvm-dev javac=default-jdk-headless curl=curl
# Databases are started by their tests and by `antiphon measure sql drivers`. Debian's package of PostgreSQL also starts a server of the machine's own, which nothing here uses.
DATABASES = gprbuild=gprbuild /usr/share/gpr/gnatcoll_sqlite.gpr=libgnatcoll-sqlite21-dev /usr/share/gpr/gnatcoll_postgres.gpr=libgnatcoll-postgres3-dev pip3=python3-pip python3-config=python3-dev curl=curl javac=default-jdk-headless node=nodejs npm=npm psql=postgresql mariadbd=mariadb-server-core mariadb=mariadb-client-core /usr/include/sqlite3.h=libsqlite3-dev /usr/include/postgresql/libpq-fe.h=libpq-dev /usr/include/mariadb/mysql.h=libmariadb-dev
# Servers in C, C++, Java, JavaScript and Python, which tests start, too; and what `antiphon measure rest` needs beside them: Java's libraries, and other generators of load.
SERVERS = javac=default-jdk-headless node=nodejs pip3=python3-pip /usr/include/event2/http.h=libevent-dev /usr/include/boost/beast.hpp=libboost-dev
REST = $(SERVERS) mvn=maven wrk=wrk ab=apache2-utils siege=siege
NEEDS = gcc=gcc g++=g++ make=make python3=python3 gnatmake=gnat valgrind=valgrind
JAVA = javac=default-jdk-headless
FIRST_NEEDS = gcc=gcc make=make gnatmake=gnat
RUN_NEEDS = $(if $(CHOSEN),$(sort $(NEEDS) $(if $(filter models shared-data,$(CHOSEN)),$(JAVA)) $(if $(filter layer,$(CHOSEN)),$(RIVALS)) \
  $(if $(filter rest,$(CHOSEN)),$(REST)) $(if $(filter sql drivers,$(CHOSEN)),$(DATABASES))),$(FIRST_NEEDS))
# Whether a machine has an ssh server is its owner's matter, unless nothing would start it.
SSHD = $(if $(wildcard /run/systemd/system),,/usr/sbin/sshd=openssh-server ssh=openssh-client)
TEST_NEEDS = $(sort $(NEEDS) $(RIVALS) master1=pvm-examples gfortran=gfortran pkg-config=pkg-config chromium=chromium $(SSHD) $(DATABASES) $(SERVERS))

.PHONY: run check test soak lint bench sanitize install install-panda install-pvm pvm-libraries uninstall uninstall-panda uninstall-pvm clean setup-run setup-test build command deb

# A suite of which nothing could be measured (3) has its gaps in the report. Only the suite `layer` needs libraries beside the command.
run: setup-run $(if $(filter layer,$(CHOSEN)),build,command)
	$(ANTIPHON) measure $(CHOSEN) --quick || [ $$? = 3 ]
	$(ANTIPHON) report $(or $(CHOSEN),$(FIRST_LOOK)) --html $(REPORT)

# Many tests wait most of their time: for members that are killed, for networks that are cut, for servers.
test: export RUST_TEST_THREADS ?= $(shell expr 2 '*' $$(nproc))

test: setup-test
	cargo test --workspace --no-fail-fast
	@# SR's programs once more, with the run-time that ships.
	ANTIPHON_RUNTIME_PROFILE=ship cargo test -p antiphon-sr --test it programs::

# The large numbers of what `make test` tries a few of. Histories of the portability layer's
# protocols and of programs over it are drawn from SEEDS seeds, those of shared objects from
# HISTORIES, and those of SR's virtual machines from SR_SEEDS; members lie in LIES ways. A build of
# the C subject is compared with itself COMPARISONS times (a minute each), and a true 3 % is looked for.
SEEDS ?= 100000
LIES ?= 3000
HISTORIES ?= 5000
SR_SEEDS ?= 20000
COMPARISONS ?= 50
SOAK = cargo test --release --test it
soak:
	PANDA_SEEDS=$(SEEDS) $(SOAK) -p antiphon-panda-sim -- --nocapture seeds:: whatever_the_seed whoever_crashes
	PANDA_SEEDS=20 $(SOAK) -p antiphon-panda-sim -- programs:: restarts:: spawning::
	PANDA_SPLITS=400 $(SOAK) -p antiphon-panda-sim -- availability::
	PANDA_SEEDS=$(LIES) $(SOAK) -p antiphon-panda-core -- lies::
	PROPTEST_CASES=$(LIES) $(SOAK) -p antiphon-panda-core -- garbage::
	ANTIPHON_GENERATED=2000 cargo test -p antiphon-ada --release --test it generated -- --nocapture
	ANTIPHON_DAMAGED=50000 cargo test -p antiphon-ada --release --test it hostile::damaged
	ORCA_SEEDS=$(HISTORIES) cargo test --release -p antiphon-orca --lib -- histories_
	ORCA_SEEDS=200 cargo test --release -p antiphon-orca --lib -- scenarios::
	ORCA_MEGABYTES=100 $(SOAK) -p antiphon-orca -- many_megabytes
	PVM_SEQUENCES=50000 $(SOAK) -p antiphon-pvm -- random_sequences
	PVM_SOAK=yes $(SOAK) -p antiphon-pvm -- soak::
	STORE_ROUNDS=100 cargo test -p antiphon-lab --release --test it store::processes_that_begin
	LAUNCH_LARGE=yes cargo test -p antiphon-launch --release --test it -- --nocapture large_sessions
	ANTIPHON_COMPARISONS=10000 cargo test --release -p antiphon-measure --lib comparison::
	ANTIPHON_COMPARISONS=$(COMPARISONS) $(SOAK) -p antiphon -- --nocapture against_itself three_per_cent
	SR_SEEDS=$(SR_SEEDS) cargo test --release -p antiphon-sr-rt --lib -- every_invocation
	SR_CASES=$(SEEDS) SR_PROGRAMS=300 cargo test -p antiphon-sr --release --test it -- fuzz:: mutated:: random::
	ORCA_CASES=100000 ORCA_RANDOM=2000 cargo test -p antiphon-orca-lang --release --test it -- wild:: random::

# What to run while at work: formatting, clippy and unit tests of the crates that changed.
check:
	@scripts/check.sh

MACHINES = antiphon-sr-rt/machines
lint:
	cargo fmt --all --check
	@# With the virtual machines of SR's run-time, and that crate once more without: it has few dependencies.
	cargo clippy --workspace --all-targets --features $(MACHINES) -- -D warnings
	cargo clippy --package antiphon-sr-rt -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --features $(MACHINES)
	scripts/prose.py
	@if cargo deny --version >/dev/null 2>&1; then cargo deny check; else echo "cargo-deny is not installed: dependencies were not checked"; fi

bench: setup-run
	@# The simulator alone is built with faults that can be put in: what is measured is what users run.
	cargo bench --workspace --exclude antiphon-panda-sim
	cargo bench -p antiphon-panda-sim

HOST = $(shell rustc -vV | sed -n 's/host: //p')
# ThreadSanitizer must see the standard library and system calls, and is told of fibers' switches (crates/fiber/src/tsan.rs).
TSAN_FLAGS = -Zsanitizer=thread --cfg antiphon_tsan --cfg rustix_use_libc -Cllvm-args=-tsan-instrument-func-entry-exit=0
TSAN = RUSTFLAGS="$(TSAN_FLAGS)" CARGO_PROFILE_DEV_OPT_LEVEL=1 cargo +nightly test -Zbuild-std --target $(HOST)

# Leaks are not looked for: what a fiber that is blocked for ever owns is left alone on purpose, and so is the memory of the rings' test.
# Miri follows the rings of shared memory under 4 schedules: accesses that nothing orders, and what weak orders allow. ThreadSanitizer does not see them, where each process of
# a test has a mapping of its own; it sees sessions. Ticks are none of its tests either: it holds signals back until the next system call.
sanitize:
	ASAN_OPTIONS=detect_leaks=0 RUSTFLAGS=-Zsanitizer=address cargo +nightly test -p antiphon-fiber --target $(HOST) --test it --features corosensei/sanitizer -- one:: many::
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-many-seeds=0..4" cargo +nightly miri test -p antiphon-panda --lib -- race
	@# PVM's C programs over a library that is not instrumented: what they hand over and get is seen.
	PVM_CFLAGS="-g -fsanitize=address,undefined -fno-sanitize-recover=undefined" ASAN_OPTIONS=detect_leaks=0 cargo test -p antiphon-pvm --test it -- programs:: failures:: soak::
	$(TSAN) -p antiphon-fiber --test it -- one:: many:: --skip one::ticks --skip a_hundred_thousand
	$(TSAN) -p antiphon-panda --lib
	$(TSAN) -p antiphon-panda --test it -- platforms::local platforms::tcp platforms::udp platforms::shm failures::waits

# The debug information of the command stands beside it, where backtraces find it. Builds and
# benchmarks take the same profile, or each would compile everything anew. Measurements and tests
# do not: they say that such a variable is not passed on.
build command bench: export CARGO_PROFILE_RELEASE_STRIP = none

build:
	cargo build --workspace --release
	@scripts/split-debug.sh $(ANTIPHON)
	$(MAKE) pvm-libraries

command:
	cargo build --release --package antiphon
	@scripts/split-debug.sh $(ANTIPHON)

# Where `antiphon pvm cc` finds them as long as nothing is installed.
pvm-libraries:
	install -d $(LIBRARIES)/pvm/include
	install -m 644 crates/pvm/include/pvm3.h crates/pvm/include/fpvm3.h $(LIBRARIES)/pvm/include/
	scripts/pvm-libraries.sh $(LIBRARIES)/libpvm3.a $(LIBRARIES)/pvm/lib

install: build
	$(MAKE) install-panda install-pvm
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(ANTIPHON) $(DESTDIR)$(PREFIX)/bin/antiphon
	@# Suites and subjects that an older version installed: the command brings its own.
	rm -rf $(DESTDIR)$(PREFIX)/share/antiphon
	$(ANTIPHON) generate man $(DESTDIR)$(PREFIX)/share/man/man1
	$(ANTIPHON) generate completions $(DESTDIR)$(PREFIX)/share

# A Debian package, which cargo-deb makes: `cargo install cargo-deb`.
DEB = $(LIBRARIES)/deb
deb: command
	rm -rf $(DEB)
	install -d $(DEB)/man
	$(ANTIPHON) generate man $(DEB)/man
	$(ANTIPHON) generate completions $(DEB)
	cargo deb --package antiphon --no-build --no-strip

# The portability layer for C, as `cargo build --release -p antiphon-panda-c` made it.
install-panda:
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 crates/panda-c/include/panda.h $(DESTDIR)$(PREFIX)/include/panda.h
	install -m 644 $(LIBRARIES)/libpanda.a $(DESTDIR)$(PREFIX)/lib/libpanda.a
	install -m 755 $(LIBRARIES)/libpanda.so $(DESTDIR)$(PREFIX)/lib/$(LIBPANDA)
	ln -sf $(LIBPANDA) $(DESTDIR)$(PREFIX)/lib/libpanda.so
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' crates/panda-c/panda.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/panda.pc
	@# The loader finds a library in /usr/local/lib by its cache, which root alone can write.
	[ -n "$(DESTDIR)" ] || [ ! -w /etc/ld.so.cache ] || ldconfig

# PVM's libraries, of the archive that `cargo build --release -p antiphon-pvm` made.
install-pvm: pvm-libraries
	install -d $(PVM)
	cp -RP $(LIBRARIES)/pvm/include $(LIBRARIES)/pvm/lib $(PVM)/

uninstall-pvm:
	rm -rf $(PVM)

uninstall-panda:
	rm -f $(DESTDIR)$(PREFIX)/include/panda.h $(DESTDIR)$(PREFIX)/lib/libpanda.a $(DESTDIR)$(PREFIX)/lib/$(LIBPANDA) $(DESTDIR)$(PREFIX)/lib/libpanda.so
	rm -f $(DESTDIR)$(PREFIX)/lib/pkgconfig/panda.pc

uninstall: uninstall-panda uninstall-pvm
	rm -rf $(DESTDIR)$(PREFIX)/bin/antiphon $(DESTDIR)$(PREFIX)/share/antiphon
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/antiphon*.1
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/antiphon $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_antiphon $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/antiphon.fish

clean:
	cargo clean
	rm -f $(REPORT)

setup-run:
	@scripts/setup.sh $(RUN_NEEDS)

setup-test:
	@scripts/setup.sh $(TEST_NEEDS)
