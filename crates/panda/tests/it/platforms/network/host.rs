//! Hosts of a test: network namespaces, each with a network card whose cable ends in a file
//! descriptor (TAP, see the kernel's `tuntap.rst`).
//!
//! A namespace belongs to threads, so one process suffices for a session of several hosts. The
//! kernel removes it all when the process ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::zeroed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::thread;

use libc::{c_char, c_int, c_short, ifreq, rtentry, sockaddr, sockaddr_in};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netdevice};

/// The card's name, the same in each namespace.
const CARD: &str = "cable";

/// The version of IP that the hosts use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V4,
    V6,
}

/// A namespace with a card.
pub struct Host {
    namespace: File,
    /// Its address on the network.
    pub address: IpAddr,
}

impl Host {
    /// Makes a host, and returns the other end of its cable. A read takes an Ethernet frame without
    /// waiting, and a write delivers one.
    ///
    /// # Errors
    /// The failed step, with the system's error. Making a host takes root and `/dev/net/tun`.
    pub fn new(version: Version, number: u8) -> Result<(Self, File), String> {
        let address = match version {
            Version::V4 => Ipv4Addr::new(10, 77, 0, number).into(),
            Version::V6 => Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number.into()).into(),
        };
        thread::scope(|scope| scope.spawn(|| make(address)).join().expect("no panic"))
    }

    /// Runs `act` on this host: its sockets and those of its threads are this host's.
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

    /// Limits the card's packets to `bytes`.
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

/// Returns why no host can be made here, or `None` if one can.
pub fn missing(version: Version) -> Option<String> {
    Host::new(version, 1).err()
}

/// Makes the host on a thread that stays in the new namespace.
fn make(address: IpAddr) -> Result<(Host, File), String> {
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
    // SAFETY: it was just opened, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    for name in ["lo", CARD] {
        let mut card = named(name);
        card.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
        ioctl("switch a card on", &socket, libc::SIOCSIFFLAGS, &mut card)?;
    }
    give_address(address).map_err(|error| format!("cannot give the card {address}: {error}"))?;
    if address.is_ipv4() {
        route_multicast(&socket)?;
    }
    let namespace = File::open("/proc/thread-self/ns/net")
        .map_err(|error| format!("cannot open the network namespace: {error}"))?;
    Ok((Host { namespace, address }, cable))
}

/// Makes the card use an address at once. IPv6 would otherwise ask its neighbours for a duplicate,
/// and wait for an answer (see `rtnetlink(7)`).
fn give_address(address: IpAddr) -> io::Result<()> {
    let (family, bits, bytes) = match address {
        IpAddr::V4(address) => (libc::AF_INET, 24, address.octets().to_vec()),
        IpAddr::V6(address) => (libc::AF_INET6, 64, address.octets().to_vec()),
    };
    // Protocol 0 is that of addresses and routes.
    let system = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    let card = netdevice::name_to_index(&system, CARD)?;
    let attribute = [4 + bytes.len() as u16, libc::IFA_LOCAL].map(u16::to_ne_bytes);
    let mut body = vec![family as u8, bits, libc::IFA_F_NODAD as u8, 0];
    body.extend(card.to_ne_bytes());
    body.extend(attribute.as_flattened());
    body.extend(bytes);

    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE;
    let kind = [libc::RTM_NEWADDR, flags as u16].map(u16::to_ne_bytes);
    let mut request = (16 + body.len() as u32).to_ne_bytes().to_vec();
    request.extend(kind.as_flattened());
    request.extend([0; 8]);
    request.extend(body);
    rustix::net::send(&system, &request, SendFlags::empty())?;

    let mut answer = [0; 128];
    rustix::net::recv(&system, &mut answer, RecvFlags::empty())?;
    // Behind the header stands a negated error number, or 0.
    let error = i32::from_ne_bytes(answer[16..20].try_into().expect("four"));
    match error {
        0 => Ok(()),
        _ => Err(io::Error::from_raw_os_error(-error)),
    }
}

/// Sends multicast out by the card. Over IPv6 the system does this by itself.
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

/// `request` must be the structure that the kernel expects with `number`.
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
