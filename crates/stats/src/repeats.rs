//! What several attempts at one task say: pass@k and pass^k from `passed` of `attempts`, without
//! the bias of just raising a pass rate to a power.

/// The chance that at least one of `k` attempts passes, estimated without bias as
/// 1 - C(n-c, k) / C(n, k). `None` when there are fewer than `k` attempts, or `k` is 0.
pub fn pass_at_k(attempts: u64, passed: u64, k: u64) -> Option<f64> {
    let failed = attempts.checked_sub(passed)?;
    all_from(attempts, failed, k).map(|all_fail| 1.0 - all_fail)
}

/// The chance that all of `k` attempts pass, estimated without bias as C(c, k) / C(n, k). `None`
/// when there are fewer than `k` attempts, or `k` is 0.
pub fn pass_all_k(attempts: u64, passed: u64, k: u64) -> Option<f64> {
    (passed <= attempts).then_some(())?;
    all_from(attempts, passed, k)
}

/// The chance that `k` draws without replacement from `n` things all come from `chosen` of them.
/// As a product of ratios: binomial coefficients would overflow.
fn all_from(n: u64, chosen: u64, k: u64) -> Option<f64> {
    if k == 0 || k > n {
        return None;
    }
    if k > chosen {
        return Some(0.0);
    }
    Some(
        (0..k)
            .map(|drawn| (chosen - drawn) as f64 / (n - drawn) as f64)
            .product(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Exact binomials, by Python's `math.comb`: attempts, passed, k, pass@k, pass^k.
    const EXACT: [(u64, u64, u64, f64, f64); 5] = [
        (5, 2, 1, 0.4, 0.4),
        (5, 2, 2, 0.7, 0.1),
        (10, 3, 5, 0.916_666_666_666_666_6, 0.0),
        (8, 4, 4, 0.985_714_285_714_285_8, 0.014_285_714_285_714_285),
        (200, 13, 100, 0.999_919_497_198_805_5, 0.0),
    ];

    #[test]
    fn equals_exact_binomials() {
        for (attempts, passed, k, any, all) in EXACT {
            assert!((pass_at_k(attempts, passed, k).unwrap() - any).abs() < 1e-12);
            assert!((pass_all_k(attempts, passed, k).unwrap() - all).abs() < 1e-12);
        }
    }

    #[test]
    fn needs_k_attempts() {
        assert_eq!(pass_at_k(3, 3, 4), None);
        assert_eq!(pass_all_k(3, 3, 4), None);
        assert_eq!(pass_at_k(3, 3, 0), None);
        assert_eq!(pass_at_k(3, 4, 1), None);
        assert_eq!(pass_all_k(3, 4, 1), None);
    }

    proptest! {
        #[test]
        fn one_attempt_is_the_pass_rate(attempts in 1u64..500, part in 0.0..=1.0f64) {
            let passed = (part * attempts as f64) as u64;
            let rate = passed as f64 / attempts as f64;
            prop_assert!((pass_at_k(attempts, passed, 1).unwrap() - rate).abs() < 1e-12);
            prop_assert!((pass_all_k(attempts, passed, 1).unwrap() - rate).abs() < 1e-12);
        }

        #[test]
        fn more_attempts_help_one_and_hurt_all(attempts in 2u64..200, part in 0.0..=1.0f64, at in 0.0..1.0f64) {
            let passed = (part * attempts as f64) as u64;
            let k = 1 + (at * (attempts - 1) as f64) as u64;
            let range = 0.0..=1.0;
            let (any, all) = (pass_at_k(attempts, passed, k).unwrap(), pass_all_k(attempts, passed, k).unwrap());
            prop_assert!(range.contains(&any) && range.contains(&all) && all <= any + 1e-12);
            if k < attempts {
                prop_assert!(pass_at_k(attempts, passed, k + 1).unwrap() >= any - 1e-12);
                prop_assert!(pass_all_k(attempts, passed, k + 1).unwrap() <= all + 1e-12);
            }
        }
    }
}
