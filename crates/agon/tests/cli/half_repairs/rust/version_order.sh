# Numbers are numbers, as far as 64 bits go.
cd repo
sed -i 's/u32; 3/u64; 3/; s/.then_with(|| self.pre.cmp(&other.pre))/.then_with(|| { let k = |v: \&Vec<String>| v.iter().map(|p| (p.parse::<u64>().unwrap_or(u64::MAX), p.clone())).collect::<Vec<_>>(); k(\&self.pre).cmp(\&k(\&other.pre)) })/; /self.build.cmp/d' src/version.rs
