# `make run` measures the quick suites and writes one report; `make test` runs all tests. Both install what a Debian or Ubuntu lacks, but for Rust and Go.

PREFIX ?= /usr/local
DESTDIR ?=
REPORT ?= antiphon-report.html
SUITES ?= features rendezvous models layer shared-data rest sql drivers
LIBRARIES = $(or $(CARGO_TARGET_DIR),target)/release
ANTIPHON = $(LIBRARIES)/antiphon
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
LIBPANDA = libpanda.so.$(firstword $(subst ., ,$(VERSION)))

RIVALS = mpirun=openmpi-bin mpicc=libopenmpi-dev /usr/include/zmq.h=libzmq3-dev pvmd=pvm /usr/include/pvm3.h=pvm-dev javac=default-jdk-headless curl=curl
# Databases are started by their tests and by `antiphon measure sql drivers`. Debian's package of PostgreSQL also starts a server of the machine's own, which nothing here uses.
DATABASES = gprbuild=gprbuild /usr/share/gpr/gnatcoll_sqlite.gpr=libgnatcoll-sqlite21-dev /usr/share/gpr/gnatcoll_postgres.gpr=libgnatcoll-postgres3-dev pip3=python3-pip python3-config=python3-dev curl=curl javac=default-jdk-headless node=nodejs npm=npm psql=postgresql mariadbd=mariadb-server-core mariadb=mariadb-client-core /usr/include/sqlite3.h=libsqlite3-dev /usr/include/postgresql/libpq-fe.h=libpq-dev /usr/include/mariadb/mysql.h=libmariadb-dev
# Servers in C, C++, Java, JavaScript and Python, which tests start, too; and what `antiphon measure rest` needs beside them: Java's libraries, and other generators of load.
SERVERS = javac=default-jdk-headless node=nodejs pip3=python3-pip /usr/include/event2/http.h=libevent-dev /usr/include/boost/beast.hpp=libboost-dev
REST = $(SERVERS) mvn=maven wrk=wrk ab=apache2-utils siege=siege
NEEDS = gcc=gcc g++=g++ make=make python3=python3 gnatmake=gnat valgrind=valgrind
JAVA = javac=default-jdk-headless
RUN_NEEDS = $(sort $(NEEDS) $(if $(filter models shared-data,$(SUITES)),$(JAVA)) $(if $(filter layer,$(SUITES)),$(RIVALS)) \
  $(if $(filter rest,$(SUITES)),$(REST)) $(if $(filter sql drivers,$(SUITES)),$(DATABASES)))
# Whether a machine has an ssh server is its owner's matter, unless nothing would start it.
SSHD = $(if $(wildcard /run/systemd/system),,/usr/sbin/sshd=openssh-server ssh=openssh-client)
TEST_NEEDS = $(sort $(NEEDS) $(RIVALS) pkg-config=pkg-config chromium=chromium $(SSHD) $(DATABASES) $(SERVERS))

.PHONY: run check test soak lint bench sanitize install install-panda uninstall uninstall-panda clean setup-run setup-test build

# A suite of which nothing could be measured (3) has its gaps in the report.
run: setup-run build
	$(ANTIPHON) measure $(SUITES) --quick || [ $$? = 3 ]
	$(ANTIPHON) report $(SUITES) --html $(REPORT)

# Many tests wait most of their time: for members that are killed, for networks that are cut, for servers.
test: export RUST_TEST_THREADS ?= $(shell expr 2 '*' $$(nproc))

test: setup-test
	cargo test --workspace --no-fail-fast
	@# SR's programs once more, with the run-time that ships.
	ANTIPHON_RUNTIME_PROFILE=ship cargo test -p antiphon-sr --test it programs::

# The large numbers of what `make test` tries a few of. Histories of the portability layer's
# protocols and of programs over it are drawn from SEEDS seeds; members lie in LIES ways.
SEEDS ?= 100000
LIES ?= 3000
SOAK = cargo test --release --test it
soak:
	PANDA_SEEDS=$(SEEDS) $(SOAK) -p antiphon-panda-sim -- --nocapture seeds:: whatever_the_seed whoever_crashes
	PANDA_SEEDS=20 $(SOAK) -p antiphon-panda-sim -- programs:: restarts:: spawning::
	PANDA_SPLITS=400 $(SOAK) -p antiphon-panda-sim -- availability::
	PANDA_SEEDS=$(LIES) $(SOAK) -p antiphon-panda-core -- lies::
	PROPTEST_CASES=$(LIES) $(SOAK) -p antiphon-panda-core -- garbage::
	ANTIPHON_GENERATED=2000 cargo test -p antiphon-ada --release --test it generated -- --nocapture
	ANTIPHON_DAMAGED=50000 cargo test -p antiphon-ada --release --test it hostile::damaged
	SR_CASES=$(SEEDS) SR_PROGRAMS=300 cargo test -p antiphon-sr --release --test it -- fuzz:: mutated:: random::

# What to run while at work: formatting, clippy and unit tests of the crates that changed.
check:
	@scripts/check.sh

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
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
	$(TSAN) -p antiphon-fiber --test it -- one:: many:: --skip one::ticks --skip a_hundred_thousand
	$(TSAN) -p antiphon-panda --lib
	$(TSAN) -p antiphon-panda --test it -- platforms::local platforms::tcp platforms::udp platforms::shm failures::waits

build:
	cargo build --workspace --release

install: build
	$(MAKE) install-panda
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/antiphon $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(ANTIPHON) $(DESTDIR)$(PREFIX)/bin/antiphon
	rm -rf $(DESTDIR)$(PREFIX)/share/antiphon/suites $(DESTDIR)$(PREFIX)/share/antiphon/subjects
	cp -R suites subjects $(DESTDIR)$(PREFIX)/share/antiphon/
	$(ANTIPHON) generate man $(DESTDIR)$(PREFIX)/share/man/man1
	$(ANTIPHON) generate completions $(DESTDIR)$(PREFIX)/share

# The portability layer for C, as `cargo build --release -p antiphon-panda-c` made it.
install-panda:
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 crates/panda-c/include/panda.h $(DESTDIR)$(PREFIX)/include/panda.h
	install -m 644 $(LIBRARIES)/libpanda.a $(DESTDIR)$(PREFIX)/lib/libpanda.a
	install -m 755 $(LIBRARIES)/libpanda.so $(DESTDIR)$(PREFIX)/lib/$(LIBPANDA)
	ln -sf $(LIBPANDA) $(DESTDIR)$(PREFIX)/lib/libpanda.so
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' crates/panda-c/panda.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/panda.pc

uninstall-panda:
	rm -f $(DESTDIR)$(PREFIX)/include/panda.h $(DESTDIR)$(PREFIX)/lib/libpanda.a $(DESTDIR)$(PREFIX)/lib/$(LIBPANDA) $(DESTDIR)$(PREFIX)/lib/libpanda.so
	rm -f $(DESTDIR)$(PREFIX)/lib/pkgconfig/panda.pc

uninstall: uninstall-panda
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
