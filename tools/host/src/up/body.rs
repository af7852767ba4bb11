//! A job's ranks on a node, where they are: processes of the host home, or a machine in QEMU.

use lwk_home::Home;

use super::booted::Booted;

/// What runs a job's ranks here.
pub enum Body {
    Home(Home),
    Booted(Box<Booted>),
}

impl Body {
    pub fn begin(&mut self) -> std::io::Result<()> {
        match self {
            Body::Home(home) => home.begin(),
            Body::Booted(booted) => booted.begin(),
        }
    }

    pub fn time_is_up(&mut self) {
        match self {
            // One that cannot be told has ended.
            Body::Home(home) => drop(home.time_is_up()),
            Body::Booted(booted) => booted.time_is_up(),
        }
    }

    pub fn release(&mut self) {
        match self {
            Body::Home(home) => home.release(),
            Body::Booted(booted) => booted.release(),
        }
    }

    /// Has it end.
    pub fn stop(&mut self) {
        match self {
            Body::Home(home) => home.release(),
            Body::Booted(booted) => booted.kill(),
        }
    }

    pub fn kill(&mut self) {
        match self {
            Body::Home(home) => home.kill(),
            Body::Booted(booted) => booted.kill(),
        }
    }

    /// Why its console is at its end, if that is not for it to say itself.
    pub fn last_words(self) -> Option<String> {
        match self {
            Body::Home(_) => None,
            Body::Booted(mut booted) => booted.last_words(),
        }
    }
}
