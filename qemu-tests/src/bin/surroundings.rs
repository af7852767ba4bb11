//! Prints the arguments and the environment as the program sees them
#![no_std]
#![no_main]

use lwk_user::{Env, println};

lwk_user::entry!(main);

fn main(env: &Env) {
    for (index, argument) in env.args().enumerate() {
        println!("argument {index}: <{argument}>");
    }
    for (name, value) in env.vars() {
        println!("variable {name}: <{value}>");
    }
}
