//! Hosts of a test's own: network namespaces, each with a network card whose cable ends in a file descriptor (TAP, see the kernel's `tuntap.rst`).
//!
//! A namespace belongs to threads, so a session of several hosts needs one process only; all of it is gone when the process ends, in whatever way.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::zeroed;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::thread;

use libc::{c_char, c_int, c_short, ifreq, rtentry, sockaddr, sockaddr_in};

/// The card's name, the same in each namespace.
const CARD: &str = "cable";

/// A namespace with a card.
pub struct Host {
    namespace: File,
    /// Its address on the network.
    pub address: Ipv4Addr,
}

impl Host {
    /// A host, and the other end of its cable: reading it takes an Ethernet frame, without waiting, and writing gives one.
    ///
    /// # Errors
    /// What was tried, and what the system said: it takes root and `/dev/net/tun`.
    pub fn new(number: u8) -> Result<(Self, File), String> {
        let address = Ipv4Addr::new(10, 77, 0, number);
        thread::scope(|scope| scope.spawn(|| make(address)).join().expect("no panic"))
    }

    /// Does something on this host: its sockets are this host's, and its threads' are.
    pub fn run<R: Send>(&self, act: impl FnOnce() -> R + Send) -> R {
        let enter = || {
            // SAFETY: moves this thread alone, which is the scope's own.
            let entered = unsafe { libc::setns(self.namespace.as_raw_fd(), libc::CLONE_NEWNET) };
            assert_eq!(entered, 0, "{}", io::Error::last_os_error());
            act()
        };
        let done = thread::scope(|scope| scope.spawn(enter).join());
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Has its card carry packets of so many bytes at most.
    pub fn shorten_packets(&self, bytes: c_int) {
        let shortened = self.run(|| {
            let socket = UdpSocket::bind((self.address, 0)).expect("a port");
            let mut card = named(CARD);
            card.ifr_ifru.ifru_mtu = bytes;
            ioctl("shorten packets", &socket, libc::SIOCSIFMTU, &mut card)
        });
        shortened.expect("as root");
    }
}

/// Why no host can be made here, if none can.
pub fn missing() -> Option<String> {
    Host::new(1).err()
}

/// On a thread that is given up to the new namespace.
fn make(address: Ipv4Addr) -> Result<(Host, File), String> {
    // SAFETY: moves this thread alone.
    check("make a network namespace", unsafe {
        libc::unshare(libc::CLONE_NEWNET)
    })?;
    let cable = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")
        .map_err(|error| format!("cannot open /dev/net/tun: {error}"))?;
    let mut card = named(CARD);
    card.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as c_short;
    ioctl("make a TAP device", &cable, libc::TUNSETIFF, &mut card)?;

    // SAFETY: a new descriptor, or an error.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    check("open a socket", socket)?;
    // SAFETY: it was just opened and belongs to nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let mut card = named(CARD);
    card.ifr_ifru.ifru_addr = of(address);
    let what = "give the card an address";
    ioctl(what, &socket, libc::SIOCSIFADDR, &mut card)?;
    card.ifr_ifru.ifru_netmask = of(Ipv4Addr::new(255, 255, 255, 0));
    ioctl(what, &socket, libc::SIOCSIFNETMASK, &mut card)?;
    for name in ["lo", CARD] {
        let mut card = named(name);
        card.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
        ioctl("switch a card on", &socket, libc::SIOCSIFFLAGS, &mut card)?;
    }
    route_multicast(&socket)?;
    let namespace = File::open("/proc/thread-self/ns/net")
        .map_err(|error| format!("cannot open the network namespace: {error}"))?;
    Ok((Host { namespace, address }, cable))
}

/// Multicast leaves by the card.
fn route_multicast(socket: &OwnedFd) -> Result<(), String> {
    let mut name = CARD.bytes().chain([0]).collect::<Vec<u8>>();
    // SAFETY: integers, addresses of no family, and null pointers.
    let mut route: rtentry = unsafe { zeroed() };
    route.rt_dst = of(Ipv4Addr::new(224, 0, 0, 0));
    route.rt_genmask = of(Ipv4Addr::new(240, 0, 0, 0));
    route.rt_flags = libc::RTF_UP;
    route.rt_dev = name.as_mut_ptr().cast::<c_char>();
    ioctl("route multicast", socket, libc::SIOCADDRT, &mut route)
}

fn named(name: &str) -> ifreq {
    // SAFETY: integers.
    let mut request: ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as c_char;
    }
    request
}

fn of(address: Ipv4Addr) -> sockaddr {
    // SAFETY: integers.
    let mut inet: sockaddr_in = unsafe { zeroed() };
    inet.sin_family = libc::AF_INET as libc::sa_family_t;
    inet.sin_addr.s_addr = u32::from(address).to_be();
    // SAFETY: both are 16 bytes, and each pattern of bytes is an address of some family.
    unsafe { std::mem::transmute(inet) }
}

/// `request` must be what the kernel takes with `number`.
fn ioctl<T>(what: &str, fd: &impl AsRawFd, number: u64, request: &mut T) -> Result<(), String> {
    // SAFETY: the callers pair each number with its structure, which lives as long as the call.
    let done = unsafe { libc::ioctl(fd.as_raw_fd(), number as _, std::ptr::from_mut(request)) };
    check(what, done)
}

fn check(what: &str, done: c_int) -> Result<(), String> {
    match done {
        ..0 => Err(format!("cannot {what}: {}", io::Error::last_os_error())),
        _ => Ok(()),
    }
}
