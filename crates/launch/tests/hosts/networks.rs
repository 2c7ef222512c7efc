//! Hosts with networks of their own, which are network namespaces. They take root.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers the networks of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Two network namespaces and this one, on one bridge. No other test has their names and addresses.
pub struct Networks {
    pub names: [String; 2],
    /// The addresses of the two, in their order.
    pub addresses: [String; 2],
    bridge: String,
}

impl Networks {
    /// Those that can be made here; else nothing, with the reason printed.
    pub fn try_new() -> Option<Self> {
        let made = Self::new();
        let skipped =
            |why: &String| eprintln!("skipped: no network namespaces here ({})", why.trim());
        made.inspect_err(skipped).ok()
    }

    fn new() -> Result<Self, String> {
        remove_left()?;
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let id = format!("{process}-{number}");
        let subnet = format!("10.213.{}", (process + number) % 250);
        let networks = Self {
            names: [format!("apn{id}a"), format!("apn{id}b")],
            addresses: [2, 3].map(|host| format!("{subnet}.{host}")),
            bridge: format!("apb{id}"),
        };
        let bridge = &networks.bridge;
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("addr add {subnet}.1/24 dev {bridge}"))?;
        ip(&format!("link set {bridge} up"))?;
        for (address, name) in networks.addresses.iter().zip(&networks.names) {
            ip(&format!("netns add {name}"))?;
            ip(&format!(
                "link add {name} type veth peer name e0 netns {name}"
            ))?;
            ip(&format!("link set {name} master {bridge} up"))?;
            ip(&format!("-n {name} addr add {address}/24 dev e0"))?;
            ip(&format!("-n {name} link set e0 up"))?;
            ip(&format!("-n {name} link set lo up"))?;
        }
        Ok(networks)
    }
}

/// Removes what killed tests left: a bridge of the same addresses would take what is sent to ours.
fn remove_left() -> Result<(), String> {
    let links = ip("-brief link show type bridge")?;
    for bridge in links
        .lines()
        .filter_map(|line| line.split_whitespace().next())
    {
        let Some(id) = bridge.strip_prefix("apb") else {
            continue;
        };
        let process = id.split('-').next().unwrap_or(id);
        if !Path::new("/proc").join(process).exists() {
            let names = [format!("apn{id}a"), format!("apn{id}b")];
            remove(&names, bridge);
        }
    }
    Ok(())
}

fn remove(names: &[String; 2], bridge: &str) {
    for name in names {
        let _ = ip(&format!("netns del {name}"));
        let _ = ip(&format!("link del {name}"));
    }
    let _ = ip(&format!("link del {bridge}"));
}

impl Drop for Networks {
    fn drop(&mut self) {
        remove(&self.names, &self.bridge);
    }
}

fn ip(words: &str) -> Result<String, String> {
    let output = Command::new("ip")
        .args(words.split_whitespace())
        .output()
        .map_err(|e| format!("ip: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("ip {words}: {}", text(&output.stderr))),
    }
}
