use inband_store::{Answer, Cell};

use super::{write_csv, write_table};

fn answer() -> Answer {
    Answer {
        columns: ["node_id", "share", "key", "none"].map(str::to_owned).to_vec(),
        rows: vec![
            vec![Cell::Integer(7), Cell::Real(0.5), Cell::Text("a \"b\", c".into()), Cell::Null],
            vec![Cell::Integer(-12), Cell::Null, Cell::Text("\u{1b}[2J\nü".into()), Cell::Null],
        ],
        ..Answer::default()
    }
}

fn written(write: fn(&mut Vec<u8>, &Answer) -> std::io::Result<()>, answer: &Answer) -> String {
    let mut out = Vec::new();
    write(&mut out, answer).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_table_is_aligned_and_shows_what_a_terminal_would_act_on() {
    let expected = "\
node_id  share  key           none
      7    0.5  a \"b\", c      -
    -12      -  \\u{1b}[2J\\nü  -
";
    assert_eq!(written(write_table, &answer()), expected);
}

#[test]
fn json_lines_keep_numbers_and_nulls() {
    let text = written(|out, answer| answer.write_json_lines(out), &answer());
    let values: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values[0], serde_json::json!({"node_id": 7, "share": 0.5, "key": "a \"b\", c", "none": null}));
    assert_eq!(values.len(), 2);
}

#[test]
fn columns_of_one_name_have_keys_of_their_own_in_json_lines() {
    let rows = vec![vec![Cell::Integer(1), Cell::Integer(2)]];
    let answer = Answer { columns: vec!["s".to_owned(); 2], rows, ..Answer::default() };
    assert_eq!(written(|out, answer| answer.write_json_lines(out), &answer), "{\"s\":1,\"s_1\":2}\n");
}

#[test]
fn csv_quotes_what_would_be_taken_apart() {
    let expected = "node_id,share,key,none\n7,0.5,\"a \"\"b\"\", c\",\n-12,,\"\u{1b}[2J\nü\",\n";
    assert_eq!(written(write_csv, &answer()), expected);
}

#[test]
fn an_answer_without_rows_still_names_its_columns() {
    let answer = Answer { rows: Vec::new(), ..answer() };
    assert_eq!(written(write_table, &answer), "node_id  share  key  none\n");
    assert_eq!(written(write_csv, &answer), "node_id,share,key,none\n");
    assert_eq!(written(|out, answer| answer.write_json_lines(out), &answer), "");
}
