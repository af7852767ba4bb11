//! Any job file: the reader does not panic; what it accepts is in range and can be read in full.
#![no_main]

use lwk_job::Job;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    match Job::parse(file) {
        Ok(job) => {
            assert!((1..=255).contains(&job.ranks) && job.memory != Some(0) && job.cores != Some(0));
            assert!(job.arguments().count() > 0);
            let whole = file.as_ptr_range();
            for value in job.arguments().chain(job.environment()) {
                let place = value.as_ptr_range();
                assert!(whole.start <= place.start && place.end < whole.end, "inside the file, with its NUL");
                assert!(!value.contains(&0));
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
