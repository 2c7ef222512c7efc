//! Sessions over Open MPI. Its own `mpirun` starts them, reaches other hosts, and marks each line
//! with its rank.

use crate::bootstrap::{Bootstrap, Over};
use crate::hosts::Hosts;
use crate::running::Running;
use crate::{Launch, LaunchError, Line};
use antiphon_panda::platform::{LaunchInfo, Secret};
use antiphon_runner::{Error, Program, Stream};
use std::path::Path;

/// Settings of Open MPI for processes of one host: they talk through shared memory and listen
/// nowhere. `mpirun` itself always listens at all addresses. It tells the processes of the loopback
/// alone.
const ON_THIS_HOST: [(&str, &str); 3] = [
    ("OMPI_MCA_pml", "ob1"),
    ("OMPI_MCA_btl", "self,vader"),
    ("OMPI_MCA_oob_tcp_if_include", "lo"),
];

pub(crate) fn start(launch: &Launch) -> Result<Running, LaunchError> {
    let bootstrap = launch
        .hosts
        .as_deref()
        .and_then(|file| bootstrap(launch, file));
    // All variables of a launch info are set, even if empty. Otherwise those of an outer session
    // would be inherited.
    let info = LaunchInfo {
        silence: launch.silence,
        ..bootstrap.as_ref().map_or_else(
            || bare(launch.count),
            |bootstrap| bootstrap.launch_info(Over::Mpi, 0),
        )
    };
    let mut mpirun = Program::new("mpirun").args(["--oversubscribe", "-n"]);
    mpirun = mpirun.arg(launch.count.to_string());
    if launch.is_marked {
        mpirun = mpirun.arg("--tag-output");
    }
    if launch.is_quiet {
        mpirun = mpirun.arg("--quiet");
    }
    for (name, value) in info.to_mpirun_environment() {
        // Other processes see only its name.
        mpirun = mpirun.env(name, value).args(["-x", name]);
    }
    if launch.hosts.is_none() {
        for (name, value) in ON_THIS_HOST {
            // A setting of the user takes precedence.
            if std::env::var_os(name).is_none() {
                mpirun = mpirun.env(name, value);
            }
        }
    }
    // SAFETY: `geteuid` only returns a number.
    if unsafe { libc::geteuid() } == 0 {
        mpirun = mpirun.arg("--allow-run-as-root");
    }
    if let Some(hosts) = &launch.hosts {
        mpirun = mpirun.arg("--hostfile").arg(hosts);
    }
    let process = mpirun
        .arg(&launch.program)
        .args(&launch.args)
        .forward(true)
        .map_err(|error| match error {
            Error::Missing { .. } => LaunchError::NoMpi,
            other => other.into(),
        })?;
    let mut running = Running::empty();
    running.add(None, process)?;
    if let Some(bootstrap) = bootstrap {
        running.hold(bootstrap);
    }
    Ok(running)
}

/// Returns the bootstrap where later processes and the others meet. A file that only `mpirun`
/// understands gives none: then no processes can be added, and a request for some says so.
fn bootstrap(launch: &Launch, hosts: &Path) -> Option<Bootstrap> {
    let hosts = Hosts::read(hosts, false).ok()?;
    Bootstrap::new(launch, hosts.own).ok()
}

/// Returns the launch info of a session of this host: rank 0 holds a bootstrap once one is needed.
fn bare(size: u32) -> LaunchInfo {
    LaunchInfo {
        platform: Over::Mpi.name().into(),
        rank: 0,
        size,
        name: String::new(),
        bootstrap: String::new(),
        address: None,
        silence: None,
        parent: None,
        starter: None,
        secret: Secret([0; 16]),
    }
}

/// Removes the mark that `--tag-output` puts before a line: `[1,3]<stdout>:` is rank 3's standard
/// output.
pub(crate) fn untag(line: Line) -> Line {
    marked(&line.text)
        .map(|(rank, stream, text)| Line {
            rank: Some(rank),
            stream,
            text: text.to_vec(),
        })
        .unwrap_or(line)
}

fn marked(text: &[u8]) -> Option<(u32, Stream, &[u8])> {
    let end = text.iter().position(|&byte| byte == b':')?;
    let (mark, text) = (str::from_utf8(&text[..end]).ok()?, &text[end + 1..]);
    let (job_and_rank, stream) = mark.strip_prefix('[')?.split_once(']')?;
    let (_, rank) = job_and_rank.split_once(',')?;
    let stream = match stream {
        "<stdout>" => Stream::Output,
        "<stderr>" => Stream::Error,
        _ => return None,
    };
    Some((rank.parse().ok()?, stream, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_off_and_other_lines_left() {
        let line = |text: &str| Line {
            rank: None,
            stream: Stream::Output,
            text: text.into(),
        };
        let marked = untag(line("[1,12]<stderr>:no: [1]"));
        assert_eq!((marked.rank, marked.stream), (Some(12), Stream::Error));
        assert_eq!(marked.text, b"no: [1]");
        for plain in [
            "",
            "mpirun noticed: that",
            "[1,x]<stdout>:a",
            "[1,2]<stdlog>:a",
        ] {
            assert_eq!(untag(line(plain)), line(plain));
        }
    }
}
