//! Seats of the processes that are started.

use crate::{Launch, LaunchError};
use antiphon_panda::platform::{self, Rank, Seat, Secret, shm, udp};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The platforms that a program can be started over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Processes of this host, over shared memory.
    Shm,
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
    /// Open MPI.
    Mpi,
}

impl Over {
    /// The platform's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Mpi => "mpi",
        }
    }
}

/// Where the processes of a session meet; held while they run.
pub enum Meeting {
    Shm(shm::Meeting),
    Tcp(platform::Meeting),
    Udp(udp::Meeting),
}

impl Meeting {
    /// A meeting at this host's address.
    pub fn new(launch: &Launch, own: IpAddr) -> Result<Self, LaunchError> {
        Self::make(launch, SocketAddr::new(own, 0)).map_err(|source| LaunchError::Session {
            over: launch.over.name(),
            source,
        })
    }

    fn make(launch: &Launch, own: SocketAddr) -> io::Result<Self> {
        let secret = Secret::fresh()?;
        match launch.over {
            Over::Shm => shm::Meeting::new(launch.count, secret).map(Self::Shm),
            Over::Tcp => platform::Meeting::hold(own, launch.count, secret).map(Self::Tcp),
            Over::Udp => {
                let meeting = udp::Meeting::at(own, launch.count, secret)?;
                Ok(Self::Udp(match launch.faults {
                    Some(faults) => meeting.with_faults(faults),
                    None => meeting,
                }))
            }
            Over::Mpi => unreachable!("mpirun makes the sessions of Open MPI"),
        }
    }

    pub fn seat(&self, rank: Rank) -> Seat {
        match self {
            Self::Shm(meeting) => meeting.seat(rank),
            Self::Tcp(meeting) => meeting.seat("tcp", rank),
            Self::Udp(meeting) => meeting.seat(rank),
        }
    }
}
