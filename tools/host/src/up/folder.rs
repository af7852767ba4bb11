//! The folder of nodes that are up: their key, node 0's address, and what each of them logs.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use lwk_control::Key;

use lwk::failure::{Doing, Failure, Outcome};
use lwk::tree::Tree;

/// The environment variable that names the folder where no option does.
const FOLDER: &str = "MARGAY_NODES";
/// Name of the file with the key of steps of Slurm.
const SHARED_KEY: &str = "slurm-key";

/// Such a folder; it need not be there.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// What users type to start nodes.
    command: &'static str,
}

impl Folder {
    /// The folder that an option or the environment names; else the tree's, or for an installation that of the user.
    pub fn find(tree: &Tree, option: Option<&Path>) -> Outcome<Folder> {
        let named = option.map(Path::to_path_buf).or_else(|| std::env::var_os(FOLDER).map(PathBuf::from));
        let own = || match tree.is_installed() {
            false => Some(tree.root().join("target/lwk/nodes")),
            true => std::env::home_dir().map(|home| home.join(".margay/nodes")),
        };
        let path = named.or_else(own);
        let path =
            path.ok_or_else(|| Failure::usage("no folder for the nodes' key; name one with --at DIR"))?;
        let path = std::path::absolute(&path).doing(|| format!("find {}", path.display()))?;
        Ok(Folder { path, command: tree.command() })
    }

    /// Makes the folder for this user alone, with a new key.
    pub fn make(&self) -> Outcome<Key> {
        self.make_empty()?;
        let key = random_key()?;
        self.write("key", &key.text())?;
        Ok(key)
    }

    /// The key of all steps of Slurm of this user, in a folder that the machines share: made by the first that looks for it.
    pub fn shared_key(&self) -> Outcome<Key> {
        let file = self.file(SHARED_KEY);
        if !file.exists() {
            self.make_empty()?;
            let name = format!(
                "{SHARED_KEY}-{}-{}",
                rustix::system::uname().nodename().to_string_lossy(),
                std::process::id()
            );
            self.write(&name, &random_key()?.text())?;
            let linked = fs::hard_link(self.file(&name), &file);
            // Another process has been quicker: its key counts.
            let _ = fs::remove_file(self.file(&name));
            linked
                .or_else(|error| if file.exists() { Ok(()) } else { Err(error) })
                .doing(|| format!("write {}", file.display()))?;
        }
        self.key_in(SHARED_KEY)
    }

    /// Makes the folder for this user alone.
    pub fn make_empty(&self) -> Outcome<()> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.path);
        made.doing(|| format!("make the folder {}", self.path.display()))
    }

    /// Writes a file that only this user can read; it is there as a whole or not at all.
    fn write(&self, name: &str, text: &str) -> Outcome<()> {
        let (new, file) = (self.file(&format!(".{name}-{}", std::process::id())), self.file(name));
        let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new);
        let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
        written.and_then(|()| fs::rename(&new, &file)).doing(|| format!("write {}", file.display()))
    }

    /// Node 0 listens at `address`.
    pub fn set_address(&self, address: &str) -> Outcome<()> {
        self.write("address", address)
    }

    /// Where node 0 listens. Errors: no nodes are up.
    pub fn address(&self) -> Outcome<String> {
        fs::read_to_string(self.file("address")).map(|text| text.trim().to_owned()).map_err(|_| {
            Failure::usage(format!(
                "no nodes are up; start some with `{} up --nodes 2 --host` (there is no {})",
                self.command,
                self.file("address").display()
            ))
        })
    }

    /// The key. Errors: there is none, or others can read it.
    pub fn key(&self) -> Outcome<Key> {
        self.key_in("key")
    }

    fn key_in(&self, name: &str) -> Outcome<Key> {
        let file = self.file(name);
        let wrong = |why: &str| Failure::usage(format!("{}: {why}", file.display()));
        let mode = fs::metadata(&file).map_err(|error| wrong(&error.to_string()))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(wrong(
                "others can read this key; make it yours alone with chmod 600, and start the nodes anew",
            ));
        }
        let text = fs::read_to_string(&file).map_err(|error| wrong(&error.to_string()))?;
        Key::parse(&text).map_err(|error| wrong(&error.to_string()))
    }

    /// The nodes are down.
    pub fn clear(&self) {
        for name in ["address", "key"] {
            // What is not there need not go.
            let _ = fs::remove_file(self.file(name));
        }
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

fn random_key() -> Outcome<Key> {
    let mut bytes = [0; 32];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.doing(|| "read random bytes for a key".into())?;
    Ok(Key::new(bytes))
}
