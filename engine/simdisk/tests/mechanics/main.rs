//! The mechanics of a hard disk, from outside: against closed forms where these can be written
//! down, against a walk from sector to sector where they cannot.

mod access;
mod geometry;
mod layouts;
mod seek;
mod shipped;
mod stream;
