#![allow(dead_code, unreachable_pub)]
mod desktop {
    mod listen;
    mod probe;
}
