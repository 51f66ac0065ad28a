//! Functions of vectors and matrices of floats.

use naga::MathFunction as Function;

use super::Arguments;
use crate::trace::arithmetic::is_float;
use crate::trace::lanes::Lanes;
use crate::trace::scalar::{float, of_float};

impl Arguments {
    /// A component as a float.
    fn real(&self, argument: usize, component: usize, lane: usize) -> f64 {
        float(self.get(argument, component, lane), self.kind.width)
    }

    /// A vector for an invocation.
    fn vector(&self, argument: usize, lane: usize) -> Vec<f64> {
        (0..self.components(argument)).map(|component| self.real(argument, component, lane)).collect()
    }

    /// Floats computed for each invocation.
    fn reals(&self, components: usize, function: impl Fn(usize) -> Vec<f64>) -> Option<Lanes> {
        let mut all = vec![0; components * self.lanes];
        for lane in 0..self.lanes {
            for (component, value) in function(lane).into_iter().enumerate() {
                all[component * self.lanes + lane] = of_float(value, self.kind.width);
            }
        }
        Some(all.into())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn scaled(a: &[f64], by: f64) -> Vec<f64> {
    a.iter().map(|a| a * by).collect()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

pub(super) fn call(function: Function, arguments: &Arguments) -> Option<Lanes> {
    if !is_float(arguments.kind) {
        return None;
    }
    let count = arguments.components(0);
    let vector = |argument, lane| arguments.vector(argument, lane);
    match function {
        Function::Length => arguments.reals(1, |lane| {
            let a = vector(0, lane);
            vec![dot(&a, &a).sqrt()]
        }),
        Function::Distance => arguments.reals(1, |lane| {
            let between = difference(&vector(0, lane), &vector(1, lane));
            vec![dot(&between, &between).sqrt()]
        }),
        Function::Normalize => arguments.reals(count, |lane| {
            let a = vector(0, lane);
            scaled(&a, 1.0 / dot(&a, &a).sqrt())
        }),
        Function::Cross => arguments.reals(3, |lane| {
            let (a, b) = (vector(0, lane), vector(1, lane));
            let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
            vec![part(1, 2), part(2, 0), part(0, 1)]
        }),
        Function::FaceForward => arguments.reals(count, |lane| {
            let facing = dot(&vector(1, lane), &vector(2, lane)) < 0.0;
            scaled(&vector(0, lane), if facing { 1.0 } else { -1.0 })
        }),
        Function::Reflect => arguments.reals(count, |lane| {
            let (incident, normal) = (vector(0, lane), vector(1, lane));
            difference(&incident, &scaled(&normal, 2.0 * dot(&normal, &incident)))
        }),
        Function::Refract => arguments.reals(count, |lane| {
            let (incident, normal, ratio) = (vector(0, lane), vector(1, lane), arguments.real(2, 0, lane));
            let cosine = dot(&normal, &incident);
            let k = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
            match k < 0.0 {
                true => vec![0.0; count],
                false => difference(&scaled(&incident, ratio), &scaled(&normal, ratio * cosine + k.sqrt())),
            }
        }),
        Function::Outer => {
            let columns = arguments.components(1);
            arguments.reals(count * columns, |lane| {
                let (rows, columns) = (vector(0, lane), vector(1, lane));
                columns.iter().flat_map(|column| scaled(&rows, *column)).collect()
            })
        }
        _ => None,
    }
}

pub(super) fn transpose(arguments: &Arguments, columns: usize, rows: usize) -> Option<Lanes> {
    arguments.build(columns * rows, |at, lane| {
        let (column, row) = (at / columns, at % columns);
        arguments.get(0, row * rows + column, lane)
    })
}

pub(super) fn determinant(arguments: &Arguments, size: usize) -> Option<Lanes> {
    arguments.reals(1, |lane| vec![eliminated(&arguments.vector(0, lane), size).0])
}

pub(super) fn inverse(arguments: &Arguments, size: usize) -> Option<Lanes> {
    arguments.reals(size * size, |lane| eliminated(&arguments.vector(0, lane), size).1)
}

/// The determinant of a square matrix and its inverse, by Gauss and Jordan.
fn eliminated(matrix: &[f64], size: usize) -> (f64, Vec<f64>) {
    let mut rest = matrix.to_vec();
    let mut inverse = vec![0.0; size * size];
    (0..size).for_each(|at| inverse[at * size + at] = 1.0);
    let mut determinant = 1.0;
    for at in 0..size {
        let largest = (at..size).max_by(|a, b| rest[a * size + at].abs().total_cmp(&rest[b * size + at].abs()));
        let pivot = largest.unwrap_or(at);
        if pivot != at {
            determinant = -determinant;
            for column in 0..size {
                rest.swap(pivot * size + column, at * size + column);
                inverse.swap(pivot * size + column, at * size + column);
            }
        }
        let head = rest[at * size + at];
        determinant *= head;
        for column in 0..size {
            rest[at * size + column] /= head;
            inverse[at * size + column] /= head;
        }
        for row in (0..size).filter(|row| *row != at) {
            let factor = rest[row * size + at];
            for column in 0..size {
                rest[row * size + column] -= factor * rest[at * size + column];
                inverse[row * size + column] -= factor * inverse[at * size + column];
            }
        }
    }
    (determinant, inverse)
}
