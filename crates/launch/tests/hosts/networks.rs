//! Hosts with networks of their own, which are network namespaces. They take root.

use std::process::Command;

/// The addresses of the two, in their order.
pub const ADDRESSES: [&str; 2] = ["10.213.77.2", "10.213.77.3"];

/// Two network namespaces and this one, on one bridge.
pub struct Networks {
    pub names: [String; 2],
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
        let id = std::process::id() % 10_000;
        let (bridge, names) = (
            format!("apb{id}"),
            [format!("apn{id}a"), format!("apn{id}b")],
        );
        let networks = Self { names, bridge };
        let bridge = &networks.bridge;
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("addr add 10.213.77.1/24 dev {bridge}"))?;
        ip(&format!("link set {bridge} up"))?;
        for (i, name) in (2..).zip(&networks.names) {
            ip(&format!("netns add {name}"))?;
            ip(&format!(
                "link add {name} type veth peer name e0 netns {name}"
            ))?;
            ip(&format!("link set {name} master {bridge} up"))?;
            ip(&format!("-n {name} addr add 10.213.77.{i}/24 dev e0"))?;
            ip(&format!("-n {name} link set e0 up"))?;
            ip(&format!("-n {name} link set lo up"))?;
        }
        Ok(networks)
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = ip(&format!("netns del {name}"));
            let _ = ip(&format!("link del {name}"));
        }
        let _ = ip(&format!("link del {}", self.bridge));
    }
}

fn ip(words: &str) -> Result<(), String> {
    let output = Command::new("ip")
        .args(words.split_whitespace())
        .output()
        .map_err(|e| format!("ip: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "ip {words}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
