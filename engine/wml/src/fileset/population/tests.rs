use std::thread;

use super::*;
use crate::random::Stream;

fn population(length: usize, exists: impl Fn(usize) -> bool) -> Population {
    Population::new((0..length).map(exists)).unwrap()
}

fn visit(population: &Population, pick: Pick) -> Option<usize> {
    let entry = population.take(pick, Aim::Use)?;
    population.release(entry);
    Some(entry)
}

/// What the counters must be when nobody has a claim.
fn assert_counted(population: &Population) {
    let exists = |entry: &usize| population.states[*entry].load(Relaxed) >= EXISTS;
    for entry in 0..population.len() {
        let next = population
            .census
            .find(entry..entry + 1, Wanted::Present, |_| true);
        assert!(next.is_some() || !exists(&entry), "{entry} is not counted");
    }
    let present = population.census.total(Wanted::Present);
    assert_eq!(present, population.existing());
    let existing = (0..population.len()).filter(exists).count() as u64;
    assert_eq!(population.existing(), existing);
    let absent = population.census.total(Wanted::Absent);
    assert_eq!(absent, population.len() as u64 - existing);
}

/// The sum of the squared deviations of counts that should be equal, as a standard normal.
fn chi_square(counts: &[u32]) -> f64 {
    let mean = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
    let sum: f64 = counts
        .iter()
        .map(|&n| (f64::from(n) - mean).powi(2) / mean)
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn the_rotor_visits_every_file_before_any_twice() {
    let population = population(10, |_| true);
    let twice: Vec<_> = (0..20)
        .filter_map(|_| visit(&population, Pick::Rotor))
        .collect();
    assert_eq!(twice, (0..10).chain(0..10).collect::<Vec<_>>());
}

#[test]
fn files_in_use_are_not_deleted_and_absent_ones_not_opened() {
    let population = population(3, |_| true);
    let open = population.take(Pick::Rotor, Aim::Use).unwrap();
    for _ in 0..2 {
        let entry = population.take(Pick::Rotor, Aim::Delete).unwrap();
        assert_ne!(entry, open);
        population.settle_absent(entry);
    }
    assert_eq!(population.take(Pick::Rotor, Aim::Delete), None);
    assert_eq!(population.take(Pick::Rotor, Aim::Use), Some(open));
    assert!(!population.claim_own(open), "two use it");
    population.release(open);
    assert!(population.claim_own(open));
    assert!(!population.is_empty(), "it is not settled");
    population.settle_absent(open);
    assert!(population.is_empty());
    assert_eq!(population.take(Pick::Rotor, Aim::Use), None);
    assert_eq!(population.take(Pick::Rotor, Aim::Create), Some(0));
    assert!(!population.is_empty(), "one is being created");
    assert_eq!(population.existing(), 0);
}

#[test]
fn an_empty_set_is_full_and_empty_and_gives_nothing() {
    let population = population(0, |_| true);
    assert!(population.is_full() && population.is_empty());
    for pick in [
        Pick::Rotor,
        Pick::Own(&mut 7),
        Pick::At(3),
        Pick::Uniform(1),
    ] {
        assert_eq!(population.take(pick, Aim::Create), None);
    }
}

#[test]
fn the_rotor_is_fair_to_the_file_between_threads_however_few_exist() {
    for (every, rounds) in [(1, 40), (3, 96), (41, 960), (1500, 4800)] {
        let population = population(3000, |entry| entry % every == 0);
        let existing = population.existing() as usize;
        let counts: Vec<AtomicU32> = (0..3000).map(|_| AtomicU32::new(0)).collect();
        // Two threads that take one position at a time, and two that use up all that they take.
        let visits = existing * rounds / 4;
        assert_eq!(visits as u64 % TURNS, 0);
        thread::scope(|scope| {
            for thread in 0..4 {
                let (population, counts) = (&population, &counts);
                scope.spawn(move || {
                    let mut turns = Turns::default();
                    for _ in 0..visits {
                        let pick = match thread % 2 {
                            0 => Pick::Rotor,
                            _ => Pick::Turns(&mut turns),
                        };
                        let entry = visit(population, pick).unwrap();
                        counts[entry].fetch_add(1, Relaxed);
                    }
                });
            }
        });
        for (entry, count) in counts.iter().enumerate() {
            let expected = if entry % every == 0 { rounds as u32 } else { 0 };
            assert_eq!(
                count.load(Relaxed),
                expected,
                "entry {entry}, every {every}"
            );
        }
    }
}

#[test]
fn uniform_picks_are_uniform_among_those_that_fit_however_few_they_are() {
    let length = 40_000;
    for every in [1, 2, 7, 400, 13_000] {
        let population = population(length, |entry| entry % every == 3 % every);
        let mut stream = Stream::new(1, &["uniform"]);
        let mut counts = vec![0; length.div_ceil(every)];
        for _ in 0..20 * counts.len().max(500) {
            let pick = Pick::Uniform(stream.next_u64());
            counts[visit(&population, pick).unwrap() / every] += 1;
        }
        let deviation = chi_square(&counts);
        assert!(deviation.abs() < 5.0, "{every}: {deviation}");
    }
}

#[test]
fn uniform_creation_is_uniform_too() {
    let population = population(20_000, |entry| entry % 50 != 7);
    let mut stream = Stream::new(2, &["uniform"]);
    let mut counts = vec![0; 400];
    for _ in 0..20_000 {
        let pick = Pick::Uniform(stream.next_u64());
        let entry = population.take(pick, Aim::Create).unwrap();
        counts[entry / 50] += 1;
        population.settle_absent(entry);
    }
    assert!(chi_square(&counts).abs() < 5.0, "{}", chi_square(&counts));
}

#[test]
fn the_only_one_that_fits_among_a_million_is_found_by_every_pick() {
    for only in [0, 333_333, 999_999] {
        let full = population(1_000_000, |entry| entry != only);
        let empty = population(1_000_000, |entry| entry == only);
        for (population, aim) in [(full, Aim::Create), (empty, Aim::Delete)] {
            let mut own = 7;
            for pick in [
                Pick::Rotor,
                Pick::Own(&mut own),
                Pick::At(12),
                Pick::Uniform(5),
            ] {
                assert_eq!(population.take(pick, aim), Some(only));
                assert_eq!(population.take(Pick::Rotor, aim), None);
                match aim {
                    Aim::Create => population.settle_absent(only),
                    _ => population.settle_existing(only, 0),
                }
            }
        }
    }
}

/// What one thread does to a population; `owners` counts who has a claim on each entry.
fn stress(population: &Population, owners: &[AtomicU32], stream: &mut Stream) {
    let alone = |entry: usize| {
        assert_eq!(owners[entry].fetch_add(1, AcqRel), 0, "two have {entry}");
        owners[entry].fetch_sub(1, AcqRel);
    };
    let mut rotor = 0;
    for _ in 0..20_000 {
        let number = stream.next_u64();
        let pick = match stream.below(4) {
            0 => Pick::Rotor,
            1 => Pick::Own(&mut rotor),
            2 => Pick::At(number),
            _ => Pick::Uniform(number),
        };
        let aim = [Aim::Create, Aim::Delete, Aim::Use][stream.below(3) as usize];
        let Some(entry) = population.take(pick, aim) else {
            continue;
        };
        match aim {
            Aim::Create => {
                alone(entry);
                population.settle_existing(entry, 0);
            }
            Aim::Delete => {
                alone(entry);
                population.settle_absent(entry);
            }
            Aim::Use => {
                assert_eq!(owners[entry].load(Acquire), 0, "{entry} is claimed");
                if population.claim_own(entry) {
                    alone(entry);
                    population.settle_absent(entry);
                } else {
                    population.release(entry);
                }
            }
        }
    }
}

#[test]
fn no_entry_is_claimed_twice_and_none_is_lost_whatever_the_picks() {
    for length in [5, 300, 40_000] {
        let population = population(length, |entry| entry % 2 == 0);
        let owners: Vec<AtomicU32> = (0..length).map(|_| AtomicU32::new(0)).collect();
        thread::scope(|scope| {
            for thread in 0..4 {
                let (population, owners) = (&population, &owners);
                let mut stream = Stream::new(thread, &["stress"]);
                scope.spawn(move || stress(population, owners, &mut stream));
            }
        });
        let settled = |state: &AtomicU32| [ABSENT, EXISTS].contains(&state.load(Relaxed));
        assert!(population.states.iter().all(settled));
        assert_counted(&population);
    }
}

/// On a busy machine a mail server would lose one of its files now and then.
#[test]
fn what_moves_behind_a_search_is_found_by_the_next_one() {
    let population = population(300, |entry| entry != 10);
    let found = population.find_from(5, Aim::Create, |entry| {
        let fits = population.fits(entry, Aim::Create);
        if fits && entry == 10 {
            // Meanwhile others create this one and delete one that was passed over.
            assert!(population.claim_absent(10) && population.claim_unused(7));
            population.settle_existing(10, 0);
            population.settle_absent(7);
        }
        fits && entry != 10
    });
    assert_eq!(found, Some(7));
}

#[test]
fn creates_and_deletes_of_many_threads_hold_the_population_for_ever() {
    // As the mail server: 80 % exist, each pass deletes one, creates one, and opens two.
    const THREADS: u64 = 8;
    let length = 1000;
    let population = population(length, |entry| entry % 5 != 0);
    let skipped = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    match population.take(Pick::Rotor, Aim::Delete) {
                        Some(entry) => population.settle_absent(entry),
                        None => drop(skipped.fetch_add(1, Relaxed)),
                    }
                    match population.take(Pick::Rotor, Aim::Create) {
                        Some(entry) => {
                            population.settle_existing(entry, 1);
                            population.release(entry);
                        }
                        None => drop(skipped.fetch_add(1, Relaxed)),
                    }
                    let open = [0; 2].map(|_| population.take(Pick::Rotor, Aim::Use).unwrap());
                    if let Some(sum) = population.census.snapshot() {
                        assert!(sum.existing.abs_diff(800) <= THREADS, "{}", sum.existing);
                    }
                    open.iter().for_each(|&entry| population.release(entry));
                }
            });
        }
    });
    assert_eq!((skipped.into_inner(), population.existing()), (0, 800));
    assert_counted(&population);
}

#[test]
fn a_run_that_claims_nothing_counts_no_users_and_the_next_one_starts_without_any() {
    let mut population = population(3, |_| true);
    let killed = population.take(Pick::At(1), Aim::Use);
    assert_eq!(killed, Some(1), "its user never released it");
    population.begin_run(false);
    assert_eq!(visit(&population, Pick::At(1)), Some(1));
    let open = population.take(Pick::At(2), Aim::Use);
    assert_eq!(open, Some(2));
    population.begin_run(true);
    for entry in 0..3 {
        assert_eq!(population.take(Pick::Rotor, Aim::Delete), Some(entry));
    }
}
