//! Sessions over Open MPI are started by its own `mpirun`, which reaches other hosts and says of each line whose it is.

use crate::running::Running;
use crate::{Launch, LaunchError, Line};
use antiphon_runner::{Error, Program, Stream};

pub(crate) fn start(launch: &Launch) -> Result<Running, LaunchError> {
    let mut mpirun = Program::new("mpirun")
        .env("ANTIPHON_PLATFORM", "mpi")
        // Else it would be that of the session that we are a process of, if we are one.
        .env("ANTIPHON_SILENCE", "")
        .args(["--tag-output", "--oversubscribe", "-n"])
        .arg(launch.count.to_string());
    if let Some(silence) = launch.silence {
        mpirun = mpirun
            .env("ANTIPHON_SILENCE", silence.as_secs_f64().to_string())
            .args(["-x", "ANTIPHON_SILENCE"]);
    }
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 {
        mpirun = mpirun.arg("--allow-run-as-root");
    }
    if let Some(hosts) = &launch.hosts {
        mpirun = mpirun
            .arg("--hostfile")
            .arg(hosts)
            .args(["-x", "ANTIPHON_PLATFORM"]);
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
    Ok(running)
}

/// Takes the mark off that `--tag-output` puts before a line: `[1,3]<stdout>:` is rank 3's standard output.
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
