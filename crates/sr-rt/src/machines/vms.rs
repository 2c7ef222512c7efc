//! The program's virtual machines, of which the first keeps a table: their creation, places and
//! destruction.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;

use antiphon_fiber::Fibers;
use antiphon_panda::SpawnOptions;
use antiphon_panda::starter::is_this_host;
use parking_lot::Mutex;

use super::letters::{Letter, Where};
use super::session::{self, link};
use super::{most_machines, serve, timeline, waits};
use crate::flavour::Flavour;
use crate::options;

/// The number of the physical machine that this one runs on, where generated code reads it.
#[unsafe(no_mangle)]
static mut sr_machine_number: i32 = 0;

pub fn set_own_number(number: i32) {
    // SAFETY: called before the first process.
    unsafe { (&raw mut sr_machine_number).write(number) };
}

static TABLE: Mutex<Table> = Mutex::new(Table {
    live: Vec::new(),
    created: Vec::new(),
    claimed: Vec::new(),
    coming: 0,
    places: BTreeMap::new(),
});

struct Table {
    /// Machines besides the first that can be asked.
    live: Vec<u32>,
    /// All machines besides the first that there are or were.
    created: Vec<u32>,
    /// Machines started by `mpirun` that the program has, or had.
    claimed: Vec<u32>,
    /// Machines that are being created.
    coming: u32,
    /// Hosts by their numbers, each with the program's path there.
    places: BTreeMap<i32, (String, String)>,
}

impl Table {
    /// Returns the number of a host that the program names, below 0 unless it has located it. The
    /// machines there create others by it.
    fn number_of(&mut self, place: &(String, String)) -> i32 {
        let mut places = self.places.iter();
        if let Some((number, _)) = places.find(|(_, known)| *known == place) {
            return *number;
        }
        let lowest = self
            .places
            .keys()
            .next()
            .map_or(0, |lowest| (*lowest).min(0));
        let number = lowest.saturating_sub(1);
        self.places.insert(number, place.clone());
        number
    }
}

/// Returns the machines that can be asked.
pub fn live() -> Vec<u32> {
    let gone = link().map(|link| link.protocol.lost()).unwrap_or_default();
    let mut live = TABLE.lock().live.clone();
    live.retain(|machine| !gone.contains_key(machine));
    live
}

/// Returns all machines besides the first that there are or were.
pub fn created() -> Vec<u32> {
    TABLE.lock().created.clone()
}

/// Returns the machines that `mpirun` has started, and that the program has not needed yet.
pub fn idle(link: &session::Link) -> Vec<u32> {
    if link.session.platform() != session::MPI {
        return Vec::new();
    }
    let mut idle: Vec<u32> = (1..link.session.size()).collect();
    let gone = link.protocol.lost();
    let table = TABLE.lock();
    idle.retain(|machine| !table.claimed.contains(machine) && !gone.contains_key(machine));
    idle
}

/// Implements locate.
pub fn locate(number: i32, host: String, path: String) {
    TABLE.lock().places.insert(number, (host, path));
}

/// Resolves a place: returns the host's number, its name if it is another host, and the program's
/// path there.
fn find(place: Where) -> Result<(i32, Option<String>, String), String> {
    let mut table = TABLE.lock();
    let (number, (host, path)) = match place {
        Where::Host(host) => {
            let place = (host, String::new());
            let number = table.number_of(&place);
            (number, place)
        }
        Where::Number(number) => match table.places.get(&number) {
            Some(found) => (number, found.clone()),
            None if number == 0 => (0, (String::new(), String::new())),
            None => {
                return Err(format!(
                    "there is no machine {number}: say where it is by locate({number}, \"host\")"
                ));
            }
        },
    };
    let is_here = host.is_empty() || is_this_host(&host);
    Ok((number, (!is_here).then_some(host), path))
}

/// Creates a virtual machine and returns its number.
///
/// # Errors
/// In words.
pub fn create<S: Flavour>(place: Where) -> Result<u32, String> {
    if options::get().schedule.is_some() {
        return Err(
            "virtual machines have no virtual time in common: run the program without --schedule"
                .into(),
        );
    }
    let (number, host, path) = find(place)?;
    {
        let mut table = TABLE.lock();
        let most = most_machines();
        if table.live.len() as u32 + table.coming + 1 >= most {
            return Err(format!(
                "create vm(): this program may have {most} virtual machines; give it more (--vms N)"
            ));
        }
        table.coming += 1;
    }
    let made = Fibers::<S>::blocking(move || {
        begin_session()?;
        let machine = match claim(number, host.as_deref())? {
            Some(machine) => machine,
            None => start(number, host, path)?,
        };
        if let Some(link) = link() {
            timeline::measure(link, &[machine]);
        }
        Ok(machine)
    });
    // A session that has begun needs a serving process.
    if link().is_some() {
        serve::begin::<S>();
    }
    let mut table = TABLE.lock();
    table.coming -= 1;
    table.live.extend(made.iter());
    table.created.extend(made.iter());
    drop(table);
    if let (Some(link), Ok(machine)) = (link(), &made) {
        // It was not yet there when others ended.
        for letter in link.protocol.obituaries() {
            let _ = link.post(*machine, &letter, Vec::new());
        }
    }
    made
}

fn begin_session() -> Result<(), String> {
    static BEGINS: Mutex<()> = Mutex::new(());
    let _begins = BEGINS.lock();
    match link() {
        Some(_) => Ok(()),
        None => session::found(&options::get().over),
    }
}

/// Returns an idle machine of a host, if there is one. Without a host it is on this machine's own.
fn claim(number: i32, host: Option<&str>) -> Result<Option<u32>, String> {
    let link = link().ok_or("there is no session")?;
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.unwrap_or(own.trim());
    for machine in idle(link) {
        let claim = |token| Letter::Claim {
            token,
            host: host.to_owned(),
            number,
        };
        let is_there = link.ask(machine, claim)?.is_some();
        let mut table = TABLE.lock();
        // Another process may have claimed it meanwhile.
        if is_there && !table.claimed.contains(&machine) {
            table.claimed.push(machine);
            drop(table);
            check_program(link, machine, "what mpirun started").map_err(cannot)?;
            return Ok(Some(machine));
        }
    }
    Ok(None)
}

fn cannot(why: String) -> String {
    format!("cannot create a virtual machine: {why}")
}

/// Waits until a machine has said hello, and checks that it runs the same program.
fn check_program(link: &session::Link, machine: u32, program: &str) -> Result<(), String> {
    match link.hello_of(machine) {
        Some(hash) if hash == program_hash() => Ok(()),
        Some(_) => Err(format!(
            "{program} is another program there: put the same one in its place"
        )),
        None => Err("it joined, and ended before it began".into()),
    }
}

/// Starts this program as another machine, and waits until it has said hello.
fn start(number: i32, host: Option<String>, path: String) -> Result<u32, String> {
    let link = link().ok_or("there is no session")?;
    let program = match &path[..] {
        "" => {
            std::env::current_exe().map_err(|error| format!("cannot find the program: {error}"))?
        }
        path => path.into(),
    };
    let on = host
        .as_deref()
        .map(|host| format!(" on {host}"))
        .unwrap_or_default();
    let mend = match &host {
        Some(host) => format!(
            "\n   `ssh {host}` must work without a password, {host} must have the program there, and the file of `antiphon sr run --hosts` must name it"
        ),
        None => String::new(),
    };
    let cannot = |why: String| format!("cannot create a virtual machine{on}: {why}{mend}");
    let options = SpawnOptions {
        host,
        environment: vec![(
            serve::VARIABLE.into(),
            Some(OsString::from(number.to_string())),
        )],
        arguments: std::env::args_os().skip(1).collect(),
        ..SpawnOptions::default()
    };
    // One after the other: all machines know each before the next joins. The detection of quiescence
    // needs that of machines that leave.
    static SPAWNS: Mutex<()> = Mutex::new(());
    let spawns = SPAWNS.lock();
    let spawned = session::with_signals_blocked(|| link.session.spawn_with(&program, 1, &options));
    drop(spawns);
    let mut spawned = spawned.map_err(|error| cannot(error.to_string()))?;
    let machine = match spawned.pop() {
        Some(Ok(machine)) => machine,
        Some(Err(error)) => return Err(cannot(error.to_string())),
        None => return Err(cannot("nothing was started".into())),
    };
    let program = program.display().to_string();
    check_program(link, machine, &program).map_err(cannot)?;
    Ok(machine)
}

/// Returns a hash of this program's executable.
pub fn program_hash() -> u64 {
    let mut hasher = DefaultHasher::new();
    if let Ok(mut file) = std::fs::File::open("/proc/self/exe") {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = file.read(&mut buffer) {
            hasher.write(&buffer[..count]);
        }
    }
    hasher.finish()
}

/// Destroys a virtual machine.
///
/// # Errors
/// In words.
pub fn destroy<S: Flavour>(machine: u32) -> Result<(), String> {
    if machine == 0 {
        return Err("the first virtual machine cannot be destroyed: write stop".into());
    }
    let mut table = TABLE.lock();
    let place = table.live.iter().position(|live| *live == machine);
    let Some(place) = place else {
        drop(table);
        let gone = link().and_then(|link| link.check(machine).err());
        return Err(gone.unwrap_or_else(|| {
            format!("virtual machine {} does not exist any more", machine + 1)
        }));
    };
    // From here on the machine is not asked any more.
    table.live.remove(place);
    drop(table);
    let finals = |token| Letter::Finals { token, all: true };
    // SAFETY: the caller is a process.
    unsafe { waits::try_ask::<S>(std::ptr::null(), machine, finals, Vec::new()) }?;
    let Some(link) = link() else { return Ok(()) };
    timeline::measure_last(link, &[machine]);
    let _ = link.post(machine, &Letter::Quit, Vec::new());
    let waiters = link.protocol.end(machine);
    for other in live() {
        let _ = link.post(other, &Letter::Ended { machine }, Vec::new());
    }
    let why = link.check(machine).err().unwrap_or_default();
    // SAFETY: as above.
    unsafe { waits::fail::<S>(waiters, machine, &why) };
    Ok(())
}
