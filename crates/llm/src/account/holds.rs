//! Room in the budgets for calls under way: what a call may come to is held before it is sent, and given back
//! when it is known what it came to. So calls at the same time can't spend together what each could alone.
//!
//! A call that has no room while others hold some waits for them. One that has none by itself is shortened to
//! what is left of a trial's budget, or refused where not even its question fits. A run's budget shortens
//! nothing, because what other trials spent must not make an answer worse: it lets such a call pass alone.

use std::sync::PoisonError;

use agon_core::verdict::TurnEnd;
use agon_core::{ModelFault, Money};

use super::{Account, Books};
use crate::error::LlmError;

/// What a call may come to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Quote {
    /// Tokens of the question; an estimate.
    pub(crate) question: u64,
    /// Tokens of the longest answer that is asked for.
    pub(crate) answer: u64,
    /// An answer that is shorter is worth nothing.
    pub(crate) least: u64,
    /// Prices of the question and of one token of the answer; nothing where they are not known.
    pub(crate) of_question: Money,
    pub(crate) of_token: Money,
}

impl Quote {
    fn held(&self, answer: u64) -> Held {
        Held {
            tokens: self.question.saturating_add(answer),
            money: self.of_question + self.of_token * answer,
        }
    }

    /// The longest answer that both are enough for.
    fn affordable(&self, tokens: Option<u64>, money: Option<Money>) -> u64 {
        let by_tokens = tokens.map(|left| left.saturating_sub(self.question));
        let by_money = money.map(|left| {
            let left = left.less(self.of_question).picos();
            left.checked_div(self.of_token.picos()).unwrap_or(u64::MAX)
        });
        let both = [by_tokens, by_money].into_iter().flatten();
        both.fold(self.answer, u64::min)
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    tokens: u64,
    money: Money,
}

/// Room that a call has. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    account: &'a Account,
    held: Held,
    /// Tokens of the longest answer that there is room for.
    pub(crate) answer: u64,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.account.give_back(self.held);
    }
}

/// Why there is no room.
enum Full {
    /// Others hold some that may be enough.
    Wait,
    Spent(LlmError),
}

impl Account {
    /// Waits until there is room; the error says that there will be none.
    pub(crate) async fn hold(&self, quote: &Quote) -> Result<Hold<'_>, LlmError> {
        loop {
            let given_back = self.root().given_back.notified();
            tokio::pin!(given_back);
            // From here on nothing that is given back is missed.
            given_back.as_mut().enable();
            self.check()?;
            match self.take(quote, quote.answer) {
                Ok(answer) => {
                    return Ok(Hold {
                        account: self,
                        held: quote.held(answer),
                        answer,
                    });
                }
                Err(Full::Wait) => given_back.await,
                Err(Full::Spent(error)) => return Err(error),
            }
        }
    }

    fn root(&self) -> &Self {
        self.parent.as_ref().map_or(self, |parent| parent.root())
    }

    /// Takes room here and above, or nowhere. How long the answer can be.
    fn take(&self, quote: &Quote, answer: u64) -> Result<u64, Full> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.room(&books, quote, answer)?;
        let answer = match &self.parent {
            Some(parent) => parent.take(quote, answer)?,
            None => answer,
        };
        books.held.add(quote.held(answer));
        Ok(answer)
    }

    fn room(&self, books: &Books, quote: &Quote, answer: u64) -> Result<u64, Full> {
        let spent = books.spent.money.unwrap_or_default();
        let tokens = self
            .budget
            .tokens
            .map(|most| most.saturating_sub(books.spent.tokens()));
        let money = self.budget.money.map(|most| most.less(spent));
        let (need, held) = (quote.held(answer), books.held);
        let more_tokens = tokens.is_some_and(|left| need.tokens > left.saturating_sub(held.tokens));
        let more_money = money.is_some_and(|left| need.money > left.less(held.money));
        if !more_tokens && !more_money {
            return Ok(answer);
        }
        let by_others =
            (more_tokens && held.tokens > 0) || (more_money && held.money > Money::ZERO);
        if by_others {
            return Err(Full::Wait);
        }
        if !self.is_of_trial() {
            return Ok(answer);
        }
        let short = quote.affordable(tokens, money);
        if short >= quote.least.min(answer) && short > 0 {
            return Ok(short);
        }
        let (what, end) = match more_tokens {
            true => ("tokens", TurnEnd::TokenLimit),
            false => ("money", TurnEnd::MoneyLimit),
        };
        let why = format_args!(
            "what is left of the trial's budget of {what} is too little for this call: it sends about {} tokens",
            quote.question
        );
        let mut error = LlmError::new(ModelFault::Budget, why);
        error.spent = Some(end);
        Err(Full::Spent(error))
    }

    fn give_back(&self, held: Held) {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.held.tokens = books.held.tokens.saturating_sub(held.tokens);
        books.held.money = books.held.money.less(held.money);
        drop(books);
        match &self.parent {
            Some(parent) => parent.give_back(held),
            None => self.given_back.notify_waiters(),
        }
    }
}

impl Held {
    fn add(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.money = self.money + other.money;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_core::Usage;
    use futures_util::FutureExt as _;

    use super::*;
    use crate::account::Budget;

    fn quote(question: u64, answer: u64) -> Quote {
        Quote {
            question,
            answer,
            least: 16,
            of_question: Money::from_picos(question),
            of_token: Money::from_picos(2),
        }
    }

    fn tokens(tokens: u64) -> Budget {
        Budget {
            tokens: Some(tokens),
            money: None,
        }
    }

    fn money(picos: u64) -> Budget {
        Budget {
            tokens: None,
            money: Some(Money::from_picos(picos)),
        }
    }

    fn used(input: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            money: Some(Money::from_picos(input + 2 * output)),
            ..Usage::default()
        }
    }

    #[test]
    fn a_call_waits_for_others_and_goes_on_when_they_are_settled() {
        for budget in [tokens(1_000), money(2_000)] {
            let account = Account::of_trial(budget, None);
            let first = account.hold(&quote(100, 500)).now_or_never().unwrap();
            let first = first.unwrap();
            assert_eq!(first.answer, 500);
            let asked = quote(100, 500);
            let mut second = Box::pin(account.hold(&asked));
            assert!(second.as_mut().now_or_never().is_none());
            // It came to much less.
            account.add(&used(100, 20));
            drop(first);
            let second = second.now_or_never().unwrap().unwrap();
            assert_eq!(second.answer, 500);
        }
    }

    #[test]
    fn what_does_not_fit_alone_is_shortened_or_refused() {
        for (budget, answer) in [(tokens(1_000), 900), (money(1_000), 450)] {
            let account = Account::of_trial(budget, None);
            let hold = account.hold(&quote(100, 5_000)).now_or_never().unwrap();
            assert_eq!(hold.unwrap().answer, answer);
            let error = account.hold(&quote(990, 5_000)).now_or_never().unwrap();
            let error = error.unwrap_err();
            assert_eq!(error.fault, ModelFault::Budget);
            assert!(error.spent.is_some(), "{error}");
            account.add(&used(1_000, 0));
            assert!(account.hold(&quote(1, 1)).now_or_never().unwrap().is_err());
        }
    }

    #[test]
    fn a_budget_of_the_run_shortens_nothing_and_lets_one_pass_alone() {
        let run = Arc::new(Account::of_run(tokens(1_000)));
        let trials = [0, 1].map(|_| Account::of_trial(Budget::default(), Some(Arc::clone(&run))));
        let first = trials[0].hold(&quote(100, 5_000)).now_or_never().unwrap();
        let first = first.unwrap();
        assert_eq!(first.answer, 5_000);
        let asked = quote(100, 200);
        let mut second = Box::pin(trials[1].hold(&asked));
        assert!(second.as_mut().now_or_never().is_none());
        trials[0].add(&used(100, 100));
        drop(first);
        assert_eq!(second.now_or_never().unwrap().unwrap().answer, 200);
        trials[1].add(&used(900, 0));
        let error = trials[0].hold(&quote(1, 1)).now_or_never().unwrap();
        assert!(error.unwrap_err().message().contains("run's"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn any_number_of_calls_at_once_stay_within_what_is_left() {
        let account = Arc::new(Account::of_trial(tokens(10_000), None));
        let calls = (0..200_u64).map(|nth| {
            let account = Arc::clone(&account);
            tokio::spawn(async move {
                let hold = match account.hold(&quote(10, 100 + nth * 7)).await {
                    Ok(hold) => hold,
                    Err(_) => return 0,
                };
                tokio::task::yield_now().await;
                let spent = used(10, hold.answer);
                account.add(&spent);
                drop(hold);
                1
            })
        });
        let made = futures_util::future::join_all(calls).await;
        let made: u64 = made.into_iter().map(Result::unwrap).sum();
        assert!(made > 10, "{made}");
        assert!(account.spent().tokens() <= 10_000);
        assert_eq!(account.books.lock().unwrap().held.tokens, 0);
    }
}
