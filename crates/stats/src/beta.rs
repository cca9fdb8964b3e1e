//! The incomplete beta function, from which the binomial and Student's distribution follow, also for
//! numbers of trials that are not whole.

use crate::interval::Level;

/// The steps of a continued fraction: it needs about the square root of its arguments.
const STEPS: usize = 20_000;
const TINY: f64 = 1e-300;
/// How close a bound is found.
const CLOSE: f64 = 1e-12;

/// Lanczos' series for the logarithm of the gamma function; `x` is above 0.
fn ln_gamma(x: f64) -> f64 {
    const SERIES: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let x = x - 1.0;
    let base = x + SERIES.len() as f64 - 0.5;
    let sum: f64 = (1u8..)
        .zip(SERIES)
        .map(|(nth, part)| part / (x + f64::from(nth)))
        .sum();
    let ln_root = 0.5 * (2.0 * std::f64::consts::PI).ln();
    ln_root + (x + 0.5) * base.ln() - base + (0.999_999_999_999_809_9 + sum).ln()
}

/// The regularized incomplete beta function: the chance that a Beta(`a`, `b`) variable is at most `x`.
/// With `a` or `b` of 0 all of it lies at that end.
pub(crate) fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x >= 1.0 || a <= 0.0 {
        return 1.0;
    }
    if x <= 0.0 || b <= 0.0 {
        return 0.0;
    }
    let ln_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() * fraction(a, b, x) / a
    } else {
        1.0 - ln_front.exp() * fraction(b, a, 1.0 - x) / b
    }
}

/// Its continued fraction, by Lentz' method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut found = d;
    for step in 1..STEPS {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for part in [even, odd] {
            d = 1.0 / away(1.0 + part * d);
            c = away(1.0 + part / c);
            change = c * d;
            found *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    found
}

/// Where a function that rises from 0 to 1 with its argument reaches `level`, between 0 and 1: by
/// Chandrupatla's method, which halves where the function bends and takes long steps where it does not.
pub(crate) fn reaches(level: f64, rising: impl Fn(f64) -> f64) -> f64 {
    // The last point, and one on the other side of the level.
    let (mut a, mut b): ((f64, f64), (f64, f64)) = ((0.0, -level), (1.0, 1.0 - level));
    let mut step = 0.5;
    while (b.0 - a.0).abs() > CLOSE {
        let x: f64 = a.0 + step * (b.0 - a.0);
        let found = (x, rising(x) - level);
        if found.1 == 0.0 {
            return x;
        }
        let c = if (found.1 > 0.0) == (a.1 > 0.0) {
            a
        } else {
            std::mem::replace(&mut b, a)
        };
        a = found;
        let (xi, phi) = ((a.0 - b.0) / (c.0 - b.0), (a.1 - b.1) / (c.1 - b.1));
        let bends = phi * phi >= xi || (1.0 - phi) * (1.0 - phi) >= 1.0 - xi;
        step = if bends {
            0.5
        } else {
            a.1 / (b.1 - a.1) * c.1 / (b.1 - c.1)
                + (c.0 - a.0) / (b.0 - a.0) * a.1 / (c.1 - a.1) * b.1 / (c.1 - b.1)
        };
        let least = (0.4 * CLOSE / (b.0 - a.0).abs()).min(0.5);
        step = if step.is_finite() {
            step.clamp(least, 1.0 - least)
        } else {
            0.5
        };
    }
    f64::midpoint(a.0, b.0)
}

/// The square of the quantile of Student's distribution that leaves `level` between its negative and
/// itself.
pub(crate) fn student_squared(degrees: f64, level: Level) -> f64 {
    let x = reaches(level.outside, |x| beta(degrees / 2.0, 0.5, x));
    degrees * (1.0 - x) / x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SciPy 1.17.1, `betainc`.
    #[test]
    fn equals_scipy() {
        for (a, b, x, expected) in [
            (0.5, 0.5, 0.3, 0.369_010_119_565_545_36),
            (2.0, 3.0, 0.2, 0.180_800_000_000_000_04),
            (8.0, 3.0, 0.9, 0.929_809_173_6),
            (1.5, 0.6, 0.95, 0.783_057_077_998_574_5),
            (0.002, 2.998, 0.001, 0.989_234_789_786_902),
            (50.5, 49.5, 0.5, 0.460_005_913_282_558),
            (40_000.0, 60_001.0, 0.402, 0.902_046_005_223_791_4),
            (1.0, 100_000.0, 3e-05, 0.950_215_172_044_611_4),
        ] {
            let found = beta(a, b, x);
            assert!((found - expected).abs() < 1e-9, "{a} {b} {x}: {found}");
        }
        assert_eq!((beta(0.0, 3.0, 0.2), beta(3.0, 0.0, 0.2)), (1.0, 0.0));
        assert_eq!((beta(2.0, 3.0, 0.0), beta(2.0, 3.0, 1.0)), (0.0, 1.0));
    }

    #[test]
    fn a_level_is_found_however_steep_the_way_is() {
        for power in [0.01, 0.3, 1.0, 2.0, 40.0] {
            for level in [1e-3, 0.025, 0.5, 0.999] {
                let (found, exact) = (
                    reaches(level, |x| x.powf(power)),
                    f64::powf(level, 1.0 / power),
                );
                assert!(
                    (found - exact).abs() < 2.0 * CLOSE,
                    "{power} {level}: {found}"
                );
            }
        }
        let wall = reaches(0.5, |x| f64::from(u8::from(x > 0.123)));
        assert!((wall - 0.123).abs() < 2.0 * CLOSE, "{wall}");
    }

    /// SciPy 1.17.1, `t.ppf(0.975, degrees)`.
    #[test]
    fn students_quantiles_equal_scipy() {
        for (degrees, expected) in [
            (0.5, 164.557_673_480_488_18),
            (1.0, 12.706_204_736_174_694),
            (1.5, 6.016_663_104_427_929),
            (2.0, 4.302_652_729_749_462),
            (3.7, 2.867_520_707_191_189_5),
            (9.0, 2.262_157_162_798_205),
            (30.0, 2.042_272_456_301_237_8),
            (999.0, 1.962_341_461_133_449_3),
        ] {
            let found: f64 = student_squared(degrees, Level::NINETY_FIVE).sqrt();
            assert!((found / expected - 1.0).abs() < 1e-6, "{degrees}: {found}");
        }
    }
}
