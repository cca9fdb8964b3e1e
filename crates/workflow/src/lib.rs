//! Coding agents over datasets, as users of OpenHands know them: its events, its runtime, its agent, its
//! result files, on top of Agon's engine. The engine's record is the truth; everything here is made from
//! it and can be made again.
