//! The launch info: the data with which a process joins a session. `antiphon launch` passes it in
//! the environment.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use super::Rank;

/// The data with which a process joins a session. [`LaunchInfo::to_environment`] and
/// [`LaunchInfo::from_environment`] are each other's inverse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchInfo {
    /// The platform's name.
    pub platform: String,
    /// The process's rank.
    pub rank: Rank,
    /// Number of processes that the session began with.
    pub size: u32,
    /// The process's name, for messages to people; `rank 3` or `node7:3`.
    pub name: String,
    /// Meeting place of the processes, as the platform reads it: the address of a bootstrap, a
    /// folder.
    pub bootstrap: String,
    /// This host's address, as the other processes reach it. Sockets are bound to it and to no
    /// other. By default it is the address by which the bootstrap is reached.
    pub address: Option<IpAddr>,
    /// Time for which a peer may be silent before it is taken for lost, if the launcher sets it.
    /// The same for all processes of a session.
    pub silence: Option<Duration>,
    /// Process that had this one started, if one did.
    pub parent: Option<Rank>,
    /// Address at which the launcher [starts more processes](crate::starter::Starter), if it does.
    pub starter: Option<String>,
    /// Secret that all processes of the session share.
    pub secret: Secret,
}

/// The secret of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub [u8; 16]);

/// Reason why the environment holds no launch info.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchInfoError {
    /// The process was not started in a session.
    #[error(
        "{0} is not set: start the program with `antiphon launch -n N --over PLATFORM PROGRAM`"
    )]
    Absent(&'static str),
    /// A variable has another form than it should.
    #[error("{variable}={value}: expected {expected}; `antiphon launch` sets it")]
    Malformed {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// Its expected form.
        expected: &'static str,
    },
}

const PLATFORM: &str = "ANTIPHON_PLATFORM";
const RANK: &str = "ANTIPHON_RANK";
const SIZE: &str = "ANTIPHON_SIZE";
const NAME: &str = "ANTIPHON_NAME";
const BOOTSTRAP: &str = "ANTIPHON_BOOTSTRAP";
const ADDRESS: &str = "ANTIPHON_ADDRESS";
const SECRET: &str = "ANTIPHON_SECRET";
const SILENCE: &str = "ANTIPHON_SILENCE";
const PARENT: &str = "ANTIPHON_PARENT";
const STARTER: &str = "ANTIPHON_STARTER";
const MPI_RANK: &str = "OMPI_COMM_WORLD_RANK";
const MPI_SIZE: &str = "OMPI_COMM_WORLD_SIZE";

impl LaunchInfo {
    /// Returns the variables that hold the launch info.
    ///
    /// All are set, and empty if there is no value. A process that another session started has that
    /// session's variables, and would hand them on to the processes that it starts.
    #[must_use]
    pub fn to_environment(&self) -> Vec<(&'static str, String)> {
        let seconds = |silence: Duration| silence.as_secs_f64().to_string();
        vec![
            (PLATFORM, self.platform.clone()),
            (RANK, self.rank.to_string()),
            (SIZE, self.size.to_string()),
            (NAME, self.name.clone()),
            (BOOTSTRAP, self.bootstrap.clone()),
            (SECRET, self.secret.to_hex()),
            (ADDRESS, or_nothing(self.address)),
            (SILENCE, or_nothing(self.silence.map(seconds))),
            (PARENT, or_nothing(self.parent)),
            (STARTER, or_nothing(self.starter.as_ref())),
        ]
    }

    /// Returns the variables for all processes of an `mpirun`, which gives each its rank.
    #[must_use]
    pub fn to_mpirun_environment(&self) -> Vec<(&'static str, String)> {
        let mut variables = self.to_environment();
        for (_, value) in (variables.iter_mut()).filter(|(name, _)| [RANK, NAME].contains(name)) {
            value.clear();
        }
        variables
    }

    /// Returns this process's launch info.
    ///
    /// # Errors
    ///
    /// The variable that is absent or malformed.
    pub fn from_environment() -> Result<Self, LaunchInfoError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Returns the launch info in these variables. Those of `mpirun` serve if there are no others.
    ///
    /// # Errors
    ///
    /// The variable that is absent or malformed.
    pub fn from_variables(
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, LaunchInfoError> {
        let text = |variable| lookup(variable).ok_or(LaunchInfoError::Absent(variable));
        let number = |variable, expected| {
            let value = text(variable)?;
            value
                .parse::<u32>()
                .map_err(|_| LaunchInfoError::Malformed {
                    variable,
                    value,
                    expected,
                })
        };
        // A process that was added to a session over Open MPI is none of `mpirun`'s. But it may
        // have inherited another process's `mpirun` variables.
        let is_mpiruns = lookup(PLATFORM).is_none_or(|platform| platform == "mpi")
            && lookup(RANK).is_none_or(|rank| rank.is_empty());
        if is_mpiruns && let Some(info) = Self::from_mpirun(&lookup) {
            let silence = silence_from(&lookup)?;
            return Ok(Self { silence, ..info });
        }
        let platform = text(PLATFORM)?;
        let rank = number(RANK, "a number from 0")?;
        let size = number(SIZE, "a number from 1")?;
        if size == 0 {
            return Err(LaunchInfoError::Malformed {
                variable: SIZE,
                value: "0".into(),
                expected: "a number from 1",
            });
        }
        let secret = text(SECRET)?;
        let secret = Secret::from_hex(&secret).ok_or(LaunchInfoError::Malformed {
            variable: SECRET,
            value: "(kept secret)".into(),
            expected: "32 hexadecimal digits",
        })?;
        let given = |variable| lookup(variable).filter(|value| !value.is_empty());
        let address = given(ADDRESS).map(|value| {
            value.parse().map_err(|_| LaunchInfoError::Malformed {
                variable: ADDRESS,
                value,
                expected: "an IP address",
            })
        });
        let name = lookup(NAME).unwrap_or_else(|| format!("rank {rank}"));
        Ok(Self {
            platform,
            rank,
            size,
            name,
            bootstrap: lookup(BOOTSTRAP).unwrap_or_default(),
            address: address.transpose()?,
            silence: silence_from(&lookup)?,
            parent: parent_from(&lookup)?,
            starter: given(STARTER),
            secret,
        })
    }
}

impl LaunchInfo {
    /// Returns the launch info of Open MPI's `mpirun`, if it started this process.
    pub(super) fn of_mpirun() -> Option<Self> {
        Self::from_mpirun(|name| std::env::var(name).ok())
    }

    /// Reads the launch info of Open MPI's `mpirun`. MPI knows its own processes. A bootstrap and a
    /// secret are for later processes, if `antiphon launch` gives them.
    fn from_mpirun(lookup: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |variable| lookup(variable)?.parse().ok();
        let (rank, size): (Rank, u32) = (number(MPI_RANK)?, number(MPI_SIZE)?);
        // Otherwise they are of another session, a process of which has started `mpirun`.
        let is_ours = number(SIZE) == Some(size);
        let given = |variable| lookup(variable).filter(|_| is_ours);
        let secret = given(SECRET).and_then(|text| Secret::from_hex(&text));
        Some(Self {
            platform: "mpi".into(),
            rank,
            size,
            name: format!("rank {rank}"),
            bootstrap: secret.and_then(|_| given(BOOTSTRAP)).unwrap_or_default(),
            address: None,
            silence: None,
            parent: None,
            starter: None,
            secret: secret.unwrap_or(Secret([0; 16])),
        })
    }
}

fn or_nothing(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn silence_from(
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<Option<Duration>, LaunchInfoError> {
    let silence = |value: String| {
        parse_silence(&value).map_err(|expected| LaunchInfoError::Malformed {
            variable: SILENCE,
            value,
            expected,
        })
    };
    let given = lookup(SILENCE).filter(|value| !value.is_empty());
    given.map(silence).transpose()
}

fn parent_from(lookup: &impl Fn(&str) -> Option<String>) -> Result<Option<Rank>, LaunchInfoError> {
    let rank = |value: String| {
        value.parse().map_err(|_| LaunchInfoError::Malformed {
            variable: PARENT,
            value,
            expected: "a number from 0, or nothing",
        })
    };
    let given = lookup(PARENT).filter(|value| !value.is_empty());
    given.map(rank).transpose()
}

/// Parses a silence in seconds, as `ANTIPHON_SILENCE` and `antiphon launch --silence` give it.
///
/// # Errors
///
/// The expected form.
pub fn parse_silence(seconds: &str) -> Result<Duration, &'static str> {
    let seconds: Option<f64> = seconds.parse().ok();
    // Less than a timer's resolution or more than a year is a mistake.
    let seconds = seconds.filter(|seconds| (0.001..=31_536_000.0).contains(seconds));
    (seconds.map(Duration::from_secs_f64)).ok_or("seconds, at least 0.001, such as 3 or 0.5")
}

impl Secret {
    /// Makes a secret from the system's random numbers.
    ///
    /// # Errors
    ///
    /// The system gives none.
    pub fn fresh() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(e.to_string()))?;
        Ok(Self(bytes))
    }

    /// Derives the key for one purpose. Keys of different purposes tell nothing of each other.
    pub(crate) fn derive(self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, &self.0)
    }

    /// Formats the secret as 32 hexadecimal digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        self.0.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    fn from_hex(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text
            .chars()
            .map(|c| c.to_digit(16).map(|d| d as u8))
            .collect::<Option<_>>()?;
        let bytes: Vec<u8> = digits
            .chunks_exact(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect();
        (digits.len() == 32)
            .then(|| bytes.try_into().ok().map(Self))
            .flatten()
    }

    /// Returns whether both are the same, in a time that does not depend on where they differ.
    #[must_use]
    pub fn is_same(self, other: Self) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .fold(0, |differ, (a, b)| differ | (a ^ b))
            == 0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launch_info_survives_the_environment() {
        let info = LaunchInfo {
            platform: "tcp".into(),
            rank: 2,
            size: 3,
            name: "node:2".into(),
            bootstrap: "127.0.0.1:9".into(),
            address: Some([10, 0, 0, 2].into()),
            silence: Some(Duration::from_millis(1250)),
            parent: Some(1),
            starter: Some("127.0.0.1:10".into()),
            secret: Secret([0xa7; 16]),
        };
        let bare = LaunchInfo {
            address: None,
            silence: None,
            parent: None,
            starter: None,
            ..info.clone()
        };
        // Each says all that the other does, so nothing of one's is left where the other's are set.
        let names = |info: &LaunchInfo| info.to_environment().into_iter().map(|(name, _)| name);
        assert!(names(&bare).eq(names(&info)));
        for info in [bare, info] {
            let variables = info.to_environment();
            let back = LaunchInfo::from_variables(|name| {
                variables
                    .iter()
                    .find(|(n, _)| *n == name)
                    .map(|(_, v)| v.clone())
            });
            assert_eq!(back, Ok(info));
        }
    }

    #[test]
    fn a_silence_is_seconds() {
        assert_eq!(parse_silence("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["soon", "0", "-1", "NaN", "inf", "1e300", "3s"] {
            let info = LaunchInfo::from_variables(|name| match name {
                SILENCE => Some(bad.into()),
                MPI_RANK => Some("0".into()),
                MPI_SIZE => Some("1".into()),
                _ => None,
            });
            let error = info.unwrap_err().to_string();
            let named = format!("ANTIPHON_SILENCE={bad}: expected seconds");
            assert!(error.starts_with(&named), "{error}");
        }
    }

    #[test]
    fn variables_of_mpirun_are_launch_info() {
        let info = LaunchInfo::from_variables(|name| match name {
            MPI_RANK => Some("3".into()),
            MPI_SIZE => Some("4".into()),
            _ => None,
        });
        let info = info.expect("launch info");
        assert_eq!(
            (info.platform.as_str(), info.rank, info.size),
            ("mpi", 3, 4)
        );
    }

    #[test]
    fn launch_info_of_mpirun_has_the_bootstrap_of_its_own_session() {
        let launch_info = |rank: &'static str, size: &'static str| {
            let info = LaunchInfo::from_variables(|name| match name {
                MPI_RANK => Some("1".into()),
                MPI_SIZE => Some("4".into()),
                PLATFORM => Some("mpi".into()),
                RANK => Some(rank.into()),
                SIZE => Some(size.into()),
                BOOTSTRAP => Some("127.0.0.1:9".into()),
                SECRET => Some("ab".repeat(16)),
                _ => None,
            });
            let info = info.expect("launch info");
            (info.rank, info.bootstrap, info.secret.0[0])
        };
        let bootstrap = || "127.0.0.1:9".to_owned();
        assert_eq!(launch_info("", "4"), (1, bootstrap(), 0xab));
        for other in ["3", ""] {
            assert_eq!(launch_info("", other), (1, String::new(), 0));
        }
        // One that was added, with what `mpirun` told who started it.
        assert_eq!(launch_info("5", "4"), (5, bootstrap(), 0xab));
    }

    #[test]
    fn a_bad_variable_is_named_and_a_secret_is_not_shown() {
        let launch_info = |rank: &str, secret: &str| {
            let (rank, secret) = (rank.to_string(), secret.to_string());
            LaunchInfo::from_variables(move |name| match name {
                "ANTIPHON_RANK" => Some(rank.clone()),
                "ANTIPHON_SECRET" => Some(secret.clone()),
                "ANTIPHON_SIZE" => Some("3".into()),
                "ANTIPHON_ADDRESS" | "ANTIPHON_SILENCE" => None,
                _ => Some(String::new()),
            })
        };
        let good = "ab".repeat(16);
        assert!(
            launch_info("two", &good)
                .unwrap_err()
                .to_string()
                .contains("ANTIPHON_RANK=two")
        );
        for bad in [
            "",
            "ab",
            &"é".repeat(16),
            &"xy".repeat(16),
            &"ab".repeat(17),
        ] {
            let error = launch_info("2", bad).unwrap_err().to_string();
            assert!(
                error.contains("ANTIPHON_SECRET") && (bad.is_empty() || !error.contains(bad)),
                "{error}"
            );
        }
    }
}
