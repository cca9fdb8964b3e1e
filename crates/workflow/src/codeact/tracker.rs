//! The agent's own list of what is to be done. Nobody but the agent sees to it; the record shows it as a
//! thought.

use serde_json::Value;

/// A longer list helps nobody.
const MOST: usize = 200;
const LONGEST: usize = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Todo,
    InProgress,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    id: String,
    title: String,
    status: Status,
    notes: String,
}

/// A list that was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskList {
    items: Vec<Item>,
}

impl TaskList {
    pub(super) fn read(items: &[Value]) -> Result<Self, String> {
        if items.len() > MOST {
            return Err(format!("`task_list` has more than {MOST} tasks"));
        }
        let items = items.iter().enumerate().map(|(n, item)| {
            Item::read(item, n + 1).map_err(|why| format!("task {} of `task_list` {why}", n + 1))
        });
        Ok(Self {
            items: items.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// For the model, and for those who read the record.
    pub(super) fn shown(&self) -> String {
        if self.items.is_empty() {
            return "The task list is empty.".to_owned();
        }
        let mut text = "# Task list".to_owned();
        for item in &self.items {
            let mark = match item.status {
                Status::Todo => ' ',
                Status::InProgress => '~',
                Status::Done => 'x',
            };
            text += &format!("\n- [{mark}] {}: {}", item.id, item.title);
            if !item.notes.is_empty() {
                text += &format!(" ({})", item.notes);
            }
        }
        text
    }
}

impl Item {
    fn read(value: &Value, number: usize) -> Result<Self, String> {
        let text = |name: &str| -> Result<String, String> {
            match value.get(name) {
                None | Some(Value::Null) => Ok(String::new()),
                Some(Value::String(text)) if text.chars().count() > LONGEST => {
                    Err(format!("has a `{name}` that is too long"))
                }
                Some(Value::String(text)) => Ok(text.trim().to_owned()),
                Some(Value::Number(number)) => Ok(number.to_string()),
                Some(_) => Err(format!("has a `{name}` that is no text")),
            }
        };
        if !value.is_object() {
            return Err("is no object".to_owned());
        }
        let (id, title) = (text("id")?, text("title")?);
        if title.is_empty() {
            return Err("has no `title`".to_owned());
        }
        let status = match text("status")?.as_str() {
            "todo" | "" => Status::Todo,
            "in_progress" => Status::InProgress,
            "done" => Status::Done,
            _ => return Err("has a `status` other than todo, in_progress or done".to_owned()),
        };
        Ok(Self {
            id: if id.is_empty() {
                number.to_string()
            } else {
                id
            },
            title,
            status,
            notes: text("notes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_shown_as_it_stands() {
        let list = TaskList::read(&[
            json!({"id": "a", "title": "look", "status": "done"}),
            json!({"id": 2, "title": "mend", "status": "in_progress", "notes": "main.c"}),
            json!({"title": "test"}),
        ]);
        let list = list.unwrap();
        assert_eq!(
            list.shown(),
            "# Task list\n- [x] a: look\n- [~] 2: mend (main.c)\n- [ ] 3: test"
        );
        assert_eq!(TaskList::default().shown(), "The task list is empty.");
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_place() {
        let why = |value| TaskList::read(&[json!({"title": "ok"}), value]).unwrap_err();
        assert!(why(json!("x")).contains("task 2"));
        assert!(why(json!({"id": "1"})).contains("`title`"));
        assert!(why(json!({"title": "t", "status": "maybe"})).contains("`status`"));
        assert!(TaskList::read(&vec![json!({"title": "t"}); 201]).is_err());
    }
}
