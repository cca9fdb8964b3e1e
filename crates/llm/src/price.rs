//! Prices of models, from the built-in list and users' own. A model that is not listed has no price, and
//! no price is never zero.
//!
//! A list is TOML: a table `[models]` from names to dollars per million tokens. Names are as on the
//! command line (`openai/gpt-4o`); one that ends with `*` stands for all that begin so, and the longest
//! one that fits wins. A user's list goes before the built-in one.

use std::collections::BTreeMap;
use std::path::Path;

use agon_core::{ModelFault, Money, Usage};
use serde::Deserialize;

use crate::error::LlmError;
use crate::spec::{ModelSpec, Provider};
use crate::wire::Bill;

const BUILT_IN: &str = include_str!("../prices.toml");
/// A larger file is no list of prices.
const LARGEST: u64 = 4 << 20;
const MILLION: u64 = 1_000_000;
/// Input that is kept for an hour costs so many times as much as other input, at the one provider that
/// does this.
const LONG_WRITE: u64 = 2;

#[derive(Debug, Default)]
pub struct Prices {
    /// The user's list first.
    lists: Vec<BTreeMap<String, Price>>,
}

/// Of one token each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rates {
    input: Money,
    cached: Money,
    cache_write: Money,
    output: Money,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Price {
    usual: Rates,
    /// For requests with more input tokens than this, all of them.
    long: Option<(u64, Rates)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The day on which the prices were looked up, for people.
    #[serde(rename = "as_of")]
    _as_of: Option<String>,
    #[serde(default)]
    models: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    input: Dollars,
    output: Dollars,
    /// Of input that the provider had in its cache; without it, as other input.
    cached: Option<Dollars>,
    cache_write: Option<Dollars>,
    long: Option<Long>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    over: u64,
    input: Dollars,
    output: Dollars,
    cached: Option<Dollars>,
    cache_write: Option<Dollars>,
}

/// Per million tokens; kept as the price of one, which must be exact.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "toml::Value")]
struct Dollars(Money);

impl TryFrom<toml::Value> for Dollars {
    type Error = String;
    fn try_from(value: toml::Value) -> Result<Self, String> {
        let text = match value {
            toml::Value::String(text) => text,
            // The shortest decimals that give this number: what was written.
            toml::Value::Integer(_) | toml::Value::Float(_) => value.to_string(),
            _ => return Err("a price is a number of dollars per million tokens".to_owned()),
        };
        let picos = Money::parse(&text).map(Money::picos);
        match picos {
            Some(picos) if picos.is_multiple_of(MILLION) => {
                Ok(Self(Money::from_picos(picos / MILLION)))
            }
            _ => Err(format!(
                "`{text}` is no price: dollars per million tokens, with six decimals at most"
            )),
        }
    }
}

impl Entry {
    fn price(&self) -> Price {
        let long = self.long.as_ref().map(|long| {
            let rates = Rates::new(long.input, long.output, long.cached, long.cache_write);
            (long.over, rates)
        });
        Price {
            usual: Rates::new(self.input, self.output, self.cached, self.cache_write),
            long,
        }
    }
}

impl Rates {
    fn new(
        input: Dollars,
        output: Dollars,
        cached: Option<Dollars>,
        write: Option<Dollars>,
    ) -> Self {
        Self {
            input: input.0,
            output: output.0,
            cached: cached.unwrap_or(input).0,
            cache_write: write.unwrap_or(input).0,
        }
    }
}

impl Prices {
    /// The built-in list, and the one in `file` before it.
    pub fn open(file: Option<&Path>) -> Result<Self, LlmError> {
        let own = file.map(|path| {
            let wrong = |why: String| {
                let text = format!("the prices in {} can't be used: {why}", path.display());
                LlmError::new(ModelFault::Setup, text)
            };
            let text = read(path).map_err(|error| wrong(error.to_string()))?;
            parse(&text).map_err(wrong)
        });
        let built_in = parse(BUILT_IN).map_err(|why| LlmError::new(ModelFault::Setup, why))?;
        let lists = own.transpose()?.into_iter().chain([built_in]).collect();
        Ok(Self { lists })
    }

    /// What the usage of one call costs; `None`: nobody knows.
    pub fn cost(&self, spec: &ModelSpec, usage: &Usage) -> Option<Money> {
        let bill = Bill {
            usual: true,
            kept_long: 0,
        };
        self.billed(spec, usage, bill)
    }

    /// The same, with what the answer says about its price.
    pub(crate) fn billed(&self, spec: &ModelSpec, usage: &Usage, bill: Bill) -> Option<Money> {
        if matches!(spec.provider, Provider::Mock | Provider::Local) {
            return Some(Money::ZERO);
        }
        // Every answer costs something: the service did not count.
        if usage.tokens() == 0 {
            return None;
        }
        let settings = &spec.settings;
        let (own_input, own_output) = (
            settings.input_cost_per_token,
            settings.output_cost_per_token,
        );
        // Lists know the usual price only.
        let listed = self.rates(spec, usage.input_tokens).filter(|_| bill.usual);
        let input = match own_input {
            Some(cost) => cost * usage.input_tokens,
            None => {
                let rates = listed?;
                let cached = usage.cached_tokens.min(usage.input_tokens);
                let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
                let fresh = usage.input_tokens - cached - written;
                let long = bill.kept_long.min(written);
                rates.input * (fresh + LONG_WRITE * long)
                    + rates.cached * cached
                    + rates.cache_write * (written - long)
            }
        };
        let output = match own_output {
            Some(cost) => cost * usage.output_tokens,
            None => listed?.output * usage.output_tokens,
        };
        Some(input + output)
    }

    fn rates(&self, spec: &ModelSpec, input: u64) -> Option<Rates> {
        let names = names(spec);
        let price = self.lists.iter().find_map(|list| {
            let exact = names.iter().find_map(|name| list.get(name));
            exact.or_else(|| names.iter().find_map(|name| family(list, name)))
        })?;
        Some(match price.long {
            Some((over, rates)) if input > over => rates,
            _ => price.usual,
        })
    }
}

/// What a model may be listed as, the most special name first.
fn names(spec: &ModelSpec) -> Vec<String> {
    let provider = match spec.provider {
        Provider::OpenAi => Some("openai"),
        Provider::Anthropic => Some("anthropic"),
        Provider::Gemini => Some("gemini"),
        // Somebody else's server: the vendor's price is not what it costs there.
        Provider::Compatible if spec.base_url.contains("//openrouter.ai/") => Some("openrouter"),
        Provider::Compatible | Provider::Local | Provider::Mock => None,
    };
    let own = provider.map(|provider| format!("{provider}/{}", spec.model));
    let compatible = (spec.provider == Provider::Compatible).then(|| spec.model.clone());
    [Some(spec.name.clone()), own, compatible]
        .into_iter()
        .flatten()
        .collect()
}

fn family<'a>(list: &'a BTreeMap<String, Price>, name: &str) -> Option<&'a Price> {
    let fits = |(key, _): &(&String, &Price)| {
        key.strip_suffix('*')
            .is_some_and(|start| name.starts_with(start))
    };
    list.iter()
        .filter(fits)
        .max_by_key(|(key, _)| key.len())
        .map(|(_, price)| price)
}

fn read(path: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(path)?
        .take(LARGEST)
        .read_to_string(&mut text)?;
    Ok(text)
}

fn parse(text: &str) -> Result<BTreeMap<String, Price>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    Ok(file
        .models
        .iter()
        .map(|(name, entry)| (name.clone(), entry.price()))
        .collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spec::{Settings, Wire};

    fn spec(provider: Provider, model: &str) -> ModelSpec {
        ModelSpec {
            name: "section".to_owned(),
            provider,
            wire: Wire::Chat,
            model: model.to_owned(),
            base_url: "http://127.0.0.1/v1".to_owned(),
            key: None,
            settings: Settings::default(),
        }
    }

    fn used(input: u64, cached: u64, written: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            cached_tokens: cached,
            cache_write_tokens: written,
            output_tokens: output,
            ..Usage::default()
        }
    }

    fn own(text: &str) -> Prices {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.toml");
        std::fs::write(&path, text).unwrap();
        Prices::open(Some(&path)).unwrap()
    }

    #[test]
    fn the_built_in_list_is_sound() {
        let list = parse(BUILT_IN).unwrap();
        for (name, price) in &list {
            let known = ["openai/", "anthropic/", "gemini/"];
            assert!(known.iter().any(|start| name.starts_with(start)), "{name}");
            let rates = price.usual;
            assert!(
                Money::ZERO < rates.input && rates.input <= rates.output,
                "{name}"
            );
            assert!(
                rates.cached <= rates.input && rates.input <= rates.cache_write,
                "{name}"
            );
            assert!(
                price.long.is_none_or(|(_, long)| rates.input < long.input),
                "{name}"
            );
        }
        let cost = Prices::open(None).unwrap().cost(
            &spec(Provider::OpenAi, "gpt-4o-2024-08-06"),
            &used(1_000_000, 0, 0, 1_000_000),
        );
        assert_eq!(cost, Money::parse("12.5"));
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let prices = own(
            "[models.\"anthropic/x\"]\ninput = 3\ncached = 0.3\ncache_write = 3.75\noutput = 15\n",
        );
        let cost = prices.cost(&spec(Provider::Anthropic, "x"), &used(1000, 600, 300, 10));
        // 100 x 3 + 600 x 0.3 + 300 x 3.75 + 10 x 15 millionths.
        assert_eq!(cost, Some(Money::from_micros(300 + 180 + 1125 + 150)));
    }

    #[test]
    fn what_is_kept_for_long_costs_more_and_other_tiers_have_no_price() {
        let prices = own(
            "[models.\"anthropic/x\"]\ninput = 3\ncached = 0.3\ncache_write = 3.75\noutput = 15\n",
        );
        let mut spec = spec(Provider::Anthropic, "x");
        let billed = |spec: &ModelSpec, usual, kept_long| {
            let bill = Bill { usual, kept_long };
            prices.billed(spec, &used(1000, 600, 300, 10), bill)
        };
        // 100 x 3 + 600 x 0.3 + 200 x 3.75 + 100 x 6 + 10 x 15 millionths.
        let long = Money::from_micros(300 + 180 + 750 + 600 + 150);
        assert_eq!(billed(&spec, true, 100), Some(long));
        // No more is kept than was put there.
        assert_eq!(billed(&spec, true, 9_999), billed(&spec, true, 300));
        assert_eq!(billed(&spec, false, 0), None);
        // Whoever says what it costs knows the tier.
        spec.settings.input_cost_per_token = Some(Money::from_picos(1));
        spec.settings.output_cost_per_token = Some(Money::from_picos(1));
        assert_eq!(billed(&spec, false, 0), Some(Money::from_picos(1010)));
    }

    #[test]
    fn long_requests_have_their_own_prices() {
        let prices = own(
            "[models.\"gemini/x\"]\ninput = 1\noutput = 2\nlong = { over = 200000, input = 3, output = 4 }\n",
        );
        let cost = |input| prices.cost(&spec(Provider::Gemini, "x"), &used(input, 0, 0, 1));
        assert_eq!(cost(200_000), Some(Money::from_micros(200_002)));
        assert_eq!(cost(200_001), Some(Money::from_micros(600_007)));
    }

    #[test]
    fn names_are_exact_unless_the_list_says_otherwise() {
        let prices = own(
            "[models.\"openai/a\"]\ninput = 1\noutput = 1\n[models.\"openai/b*\"]\ninput = 2\noutput = 2\n\
             [models.\"openai/b-2*\"]\ninput = 3\noutput = 3\n[models.\"openai/b-2-x\"]\ninput = 4\noutput = 4\n\
             [models.mine]\ninput = 5\noutput = 5\n[models.section]\ninput = 6\noutput = 6\n",
        );
        let of = |provider, model: &str, name: &str| {
            let mut spec = spec(provider, model);
            spec.name = name.to_owned();
            prices.cost(&spec, &used(1, 0, 0, 0)).map(Money::micros)
        };
        assert_eq!(of(Provider::OpenAi, "a", "n"), Some(1));
        assert_eq!(of(Provider::OpenAi, "a-2024-08-06", "n"), None);
        assert_eq!(of(Provider::OpenAi, "b-1", "n"), Some(2));
        assert_eq!(of(Provider::OpenAi, "b-2-y", "n"), Some(3));
        assert_eq!(of(Provider::OpenAi, "b-2-x", "n"), Some(4));
        assert_eq!(
            of(Provider::Compatible, "a", "n"),
            None,
            "somebody else's server"
        );
        assert_eq!(of(Provider::Compatible, "mine", "n"), Some(5));
        assert_eq!(of(Provider::Compatible, "other", "section"), Some(6));
    }

    #[test]
    fn a_section_says_it_best_and_the_unknown_stays_unknown() {
        let prices = Prices::open(None).unwrap();
        let mut spec = spec(Provider::Compatible, "unheard-of");
        assert_eq!(prices.cost(&spec, &used(10, 0, 0, 10)), None);
        spec.settings.input_cost_per_token = Some(Money::from_picos(7));
        assert_eq!(
            prices.cost(&spec, &used(10, 0, 0, 10)),
            None,
            "half a price is none"
        );
        spec.settings.output_cost_per_token = Some(Money::from_picos(9));
        assert_eq!(
            prices.cost(&spec, &used(10, 4, 0, 10)),
            Some(Money::from_picos(160))
        );
        assert_eq!(
            prices.cost(&spec, &Usage::default()),
            None,
            "nothing was counted"
        );
        spec.provider = Provider::Local;
        assert_eq!(prices.cost(&spec, &Usage::default()), Some(Money::ZERO));
    }

    #[test]
    fn prices_that_are_none_are_refused_with_their_place() {
        for text in [
            "[models.x]\ninput = 1\n",
            "[models.x]\ninput = -1\noutput = 1\n",
            "[models.x]\ninput = \"0.0000001\"\noutput = 1\n",
            "[models.x]\ninput = true\noutput = 1\n",
            "[models.x]\ninput = 1\noutput = 1\noutputs = 1\n",
            "models = 3\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        let error = Prices::open(Some(Path::new("/no/such/prices"))).unwrap_err();
        assert!(error.message().contains("/no/such/prices"));
    }

    proptest! {
        #[test]
        fn sums_are_exact(input in 0u64..10_000_000, cached in 0u64..10_000_000, output in 1u64..10_000_000, micros in 1u64..100_000_000) {
            let text = Money::from_micros(micros).to_string();
            let text = text.trim_start_matches('$');
            let list = parse(&format!("[models.\"openai/x\"]\ninput = \"{text}\"\noutput = {text}\ncached = 0\n")).unwrap();
            let prices = Prices { lists: vec![list] };
            let cost = prices.cost(&spec(Provider::OpenAi, "x"), &used(input, cached, 0, output)).unwrap();
            let paid = u128::from(input - cached.min(input) + output);
            prop_assert_eq!(u128::from(cost.picos()), paid * u128::from(micros));
        }
    }
}
