//! The operations that the platforms are built on, without the platforms.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::time::Duration;

use rustix::thread::futex::{Flags, wait, wake};

use crate::contest::Case;
use crate::pair::trips;

/// Words that both processes see, a cache line each. They lie at the end of a session's memory,
/// which nothing else uses here.
struct Words {
    map: memmap2::MmapRaw,
}

impl Words {
    fn new(case: &Case) -> Self {
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&case.shared)
            .expect("the session's memory");
        let length = file.metadata().expect("it has a length").len();
        let map = memmap2::MmapOptions::new()
            .offset(length - 4096)
            .len(4096)
            .map_raw(&file)
            .expect("mapped");
        Self { map }
    }

    fn word(&self, number: usize) -> &AtomicU32 {
        assert!(number < 16);
        // SAFETY: in bounds, aligned, and used as atomics only.
        unsafe { &*self.map.as_mut_ptr().add(number * 256).cast::<AtomicU32>() }
    }
}

/// A hand-off by futex: set the other's word and wake it, sleep on one's own.
pub fn futex(case: &Case) {
    let words = Words::new(case);
    let (own, other) = (
        words.word(case.rank as usize),
        words.word(1 - case.rank as usize),
    );
    let give = || {
        other.store(1, SeqCst);
        let _ = wake(other, Flags::empty(), 1);
    };
    let take = || {
        while own.swap(0, SeqCst) == 0 {
            let _ = wait(own, Flags::empty(), 0, None);
        }
    };
    trips(case, give, take);
}

/// A hand-off by a counter that the other spins on.
pub fn ring(case: &Case) {
    let words = Words::new(case);
    let (own, other) = (
        words.word(case.rank as usize),
        words.word(1 - case.rank as usize),
    );
    let (mut sent, mut taken) = (0, 0);
    let give = || {
        sent += 1;
        other.store(sent, Release);
    };
    let take = || {
        taken += 1;
        while own.load(Acquire) != taken {
            std::hint::spin_loop();
        }
    };
    trips(case, give, take);
}

/// Measures only the single copy of long messages. Each process reads the other's bytes where they
/// lie, into memory that it reuses. Before that comes a hand-off by a futex, or by a counter if
/// each process has its own processor.
pub fn read(case: &Case) {
    let words = Words::new(case);
    let (payload, mut space) = (vec![7_u8; case.bytes], vec![0_u8; case.bytes]);
    // SAFETY: numbers only. It lets the other process read this one's memory where the Yama module
    // would forbid it.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
    let at = payload.as_ptr() as u64;
    let facts = [std::process::id(), at as u32, (at >> 32) as u32];
    let place = |rank: u32, fact: usize| words.word(2 + 3 * rank as usize + fact);
    for (fact, &number) in facts.iter().enumerate().rev() {
        place(case.rank, fact).store(number, SeqCst);
    }
    let other = 1 - case.rank;
    while place(other, 0).load(SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let of_other = |fact| place(other, fact).load(SeqCst);
    let pid = of_other(0) as i32;
    let piece = |at: u64| libc::iovec {
        iov_base: at as *mut libc::c_void,
        iov_len: case.bytes,
    };
    let theirs = piece(u64::from(of_other(2)) << 32 | u64::from(of_other(1)));
    let ours = piece(space.as_mut_ptr() as u64);
    let (own, other) = (words.word(case.rank as usize), words.word(other as usize));
    let give = || {
        other.store(1, SeqCst);
        if case.placement == "one" {
            let _ = wake(other, Flags::empty(), 1);
        }
    };
    let take = || {
        while own.swap(0, SeqCst) == 0 {
            match case.placement.as_str() {
                "one" => drop(wait(own, Flags::empty(), 0, None)),
                _ => std::hint::spin_loop(),
            }
        }
        // SAFETY: the kernel writes to `ours` only, which is `space`, and checks the other's
        // addresses itself.
        let read =
            unsafe { libc::process_vm_readv(pid, &raw const ours, 1, &raw const theirs, 1, 0) };
        assert_eq!(usize::try_from(read), Ok(case.bytes), "the other's memory");
    };
    trips(case, give, take);
    // The second process is read last, so it stays until that is done.
    if case.rank == 0 {
        give();
    }
    while case.rank == 1 && own.load(SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Two blocking sockets.
pub fn udp(case: &Case) {
    let words = Words::new(case);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_read_timeout(None).expect("set");
    let port = socket.local_addr().expect("bound").port();
    words.word(case.rank as usize).store(port.into(), SeqCst);
    let other = words.word(1 - case.rank as usize);
    while other.load(SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let port = u16::try_from(other.load(SeqCst)).expect("a port");
    socket.connect(("127.0.0.1", port)).expect("connected");
    let (payload, mut space) = (vec![7; case.bytes], vec![0; case.bytes]);
    let give = || {
        socket.send(&payload).expect("sent");
    };
    let take = || {
        socket.recv(&mut space).expect("received");
    };
    trips(case, give, take);
}

/// Two blocking ends of a connection without delay (`TCP_NODELAY`).
pub fn tcp(case: &Case) {
    let words = Words::new(case);
    let word = words.word(0);
    let mut stream = if case.rank == 0 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        word.store(port.into(), SeqCst);
        listener.accept().expect("it connects").0
    } else {
        while word.load(SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let port = u16::try_from(word.load(SeqCst)).expect("a port");
        TcpStream::connect(("127.0.0.1", port)).expect("connected")
    };
    stream.set_nodelay(true).expect("set");
    let mut out = stream.try_clone().expect("a descriptor");
    let (payload, mut space) = (vec![7; case.bytes], vec![0; case.bytes]);
    let give = || out.write_all(&payload).expect("sent");
    let take = || stream.read_exact(&mut space).expect("received");
    trips(case, give, take);
}
