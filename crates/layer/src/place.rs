//! A process's place in its process group, as its environment says it.

const BOARD: &str = "ANTIPHON_LAYER_BOARD";
const RANK: &str = "ANTIPHON_LAYER_RANK";
const SIZE: &str = "ANTIPHON_LAYER_SIZE";
/// Variable in which `mpirun` gives the rank.
const MPI_RANK: &str = "OMPI_COMM_WORLD_RANK";

/// A process's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the page that all see.
    pub control_page: String,
    /// Its number; none where `mpirun` gives it.
    pub rank: Option<usize>,
    /// Number of members.
    pub size: usize,
}

impl Place {
    /// Returns the variables that tell a process its place.
    pub fn to_environment(&self) -> Vec<(&'static str, String)> {
        let rank = self.rank.map(|rank| (RANK, rank.to_string()));
        let others = [
            (BOARD, self.control_page.clone()),
            (SIZE, self.size.to_string()),
        ];
        others.into_iter().chain(rank).collect()
    }

    /// Returns this process's place, and its rank; `None` if it does not belong to a process group.
    pub fn of_environment() -> Option<(Self, usize)> {
        Self::of_variables(|name| std::env::var(name).ok())
    }

    fn of_variables(lookup: impl Fn(&str) -> Option<String>) -> Option<(Self, usize)> {
        let number = |name| lookup(name)?.parse().ok();
        let place = Self {
            control_page: lookup(BOARD)?,
            rank: number(RANK),
            size: number(SIZE)?,
        };
        let rank = place.rank.or_else(|| number(MPI_RANK))?;
        Some((place, rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_the_environment() {
        let place = |rank| Place {
            control_page: "/proc/7/fd/3".into(),
            rank,
            size: 4,
        };
        let read = |place: &Place, mpi: Option<&str>| {
            let variables = place.to_environment();
            Place::of_variables(|name| {
                let reported = variables.iter().find(|(known, _)| *known == name);
                let reported = reported.map(|(_, value)| value.clone());
                reported.or_else(|| mpi.filter(|_| name == MPI_RANK).map(str::to_owned))
            })
        };
        assert_eq!(read(&place(Some(2)), None), Some((place(Some(2)), 2)));
        assert_eq!(read(&place(None), Some("3")), Some((place(None), 3)));
        assert_eq!(read(&place(None), None), None);
    }
}
