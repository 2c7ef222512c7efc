//! Prints verdicts and a diff for the files named on the command line; `OUT=DIR` writes the
//! translation there.

use antiphon_ada::{Analysis, Program, translate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = Program::read(std::env::args().skip(1))?;
    let analysis = Analysis::of(&program, translate::Options::default());
    for task in &analysis.tasks {
        println!("task {}: {}", task.task.name, task.verdict.class.word());
        for reason in task.verdict.reasons.iter().chain(&task.verdict.notes) {
            let place = program.sources[reason.at.file].place_of(reason.at.node);
            println!(
                "  {place}: {}: {} ({})",
                reason.rule.code(),
                reason.text,
                reason.help
            );
        }
    }
    let translation = translate::translate(&analysis);
    if std::env::var_os("VERIFY").is_some() {
        let report = antiphon_ada::verify::verify(
            &program,
            &translation.files,
            &antiphon_ada::verify::Options::default(),
        )?;
        print!("{}", report.text());
        return Ok(());
    }
    match std::env::var_os("OUT") {
        Some(out) => drop(antiphon_ada::edit::write_to(
            &program,
            &translation.files,
            out.as_ref(),
        )?),
        None => print!("{}", translation.diff(&program)),
    }
    Ok(())
}
