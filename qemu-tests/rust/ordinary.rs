//! An ordinary program of Rust with its standard library, which knows nothing of Margay: what such programs use does what it does on Linux, or says
//! that it cannot.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, io, process, thread};

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("panic") => deep_inside(&words),
        Some("exit") => process::exit(3),
        Some("error") => Err(fs::read("/nowhere").unwrap_err()),
        Some("spawn") => {
            thread::spawn(|| ());
            Ok(())
        }
        Some(name) => everything(name),
        None => everything("nobody"),
    }
}

#[inline(never)]
fn deep_inside(words: &[String]) -> io::Result<()> {
    panic!("{} words are too few", words.len())
}

fn everything(name: &str) -> io::Result<()> {
    let words: Vec<String> = env::args().collect();
    assert!(words.len() == 1 || words[1..] == [name]);
    assert_eq!(env::var("MARGAY_TEST").as_deref(), Ok("yes"));
    assert!(env::vars().any(|(key, _)| key == "MARGAY_TEST"));

    // A heap that grows, moves and is given back.
    let mut long: Vec<u64> = Vec::new();
    (0..300_000).for_each(|number| long.push(number));
    assert_eq!(long.iter().sum::<u64>(), 299_999 * 150_000);
    let squares: HashMap<u64, u64> = long.iter().take(1000).map(|number| (*number, number * number)).collect();
    assert_eq!(squares[&31], 961);
    drop(long);
    let text: String = (0..1000).map(|number| number.to_string()).collect();
    assert_eq!(text.len(), 2890);

    let began = Instant::now();
    thread::sleep(Duration::from_millis(2));
    assert!(began.elapsed() >= Duration::from_millis(2));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    assert!(now.as_secs() > 1_700_000_000);
    thread::yield_now();

    let folder = format!("/tmp/of-{}", process::id());
    fs::create_dir_all(&folder)?;
    let file = format!("{folder}/text");
    fs::write(&file, "a line\nanother")?;
    fs::OpenOptions::new().append(true).open(&file)?.write_all(b" one\n")?;
    let mut content = String::new();
    fs::File::open(&file)?.read_to_string(&mut content)?;
    assert_eq!(content.lines().collect::<Vec<_>>(), ["a line", "another one"]);
    assert_eq!(fs::metadata(&file)?.len(), content.len() as u64);
    fs::rename(&file, format!("{folder}/moved"))?;
    let names: Vec<_> = fs::read_dir(&folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    assert_eq!(names, ["moved"]);
    fs::remove_dir_all(&folder)?;
    assert_eq!(fs::metadata(&folder).unwrap_err().kind(), io::ErrorKind::NotFound);

    // A rank is one thread.
    let refused = thread::Builder::new().spawn(|| ()).expect_err("a rank is one thread");
    assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
    assert!(thread::available_parallelism().is_ok());
    let caught = std::panic::catch_unwind(|| process_nothing(&[]));
    assert!(caught.is_err());

    eprintln!("a word to standard error");
    println!("{name} has seen everything");
    Ok(())
}

#[inline(never)]
fn process_nothing(numbers: &[u32]) -> u32 {
    numbers[numbers.len()]
}
