//! `oneread studio`: the planner as a page on loopback.
