//! Decimal digits of a number, rounded as people round: half up.

/// A number that is not negative, digit by digit.
#[derive(Debug)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    /// How many of them are before the point; more are zeros.
    point: i32,
}

impl Decimal {
    /// The shortest digits that mean the same number: `2.675`, not `2.67499999999999982`.
    pub(super) fn of(number: f64) -> Self {
        let text = format!("{:e}", number.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: Vec<u8> =
            mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        Self { point: exponent.parse::<i32>().unwrap_or(0) + 1, digits }
    }

    fn is_zero(&self) -> bool {
        self.digits.iter().all(|digit| *digit == 0)
    }

    /// Multiplies by a power of ten.
    pub(super) fn shift(&mut self, power: i32) {
        self.point += power;
    }

    /// Puts one digit before the point and returns the power of ten that is taken out.
    pub(super) fn normalise(&mut self) -> i32 {
        if self.is_zero() {
            return 0;
        }
        let power = self.point - 1;
        self.point = 1;
        power
    }

    /// Rounds to a number of decimals; whether there is one more digit before the point afterwards.
    pub(super) fn round(&mut self, decimals: usize) -> bool {
        let kept = i64::from(self.point) + decimals as i64;
        if kept < 0 {
            self.digits = vec![0];
            self.point = 1;
            return false;
        }
        let kept = kept as usize;
        let Some(next) = self.digits.get(kept).copied() else { return false };
        self.digits.truncate(kept);
        if next < 5 {
            return false;
        }
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return false;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.point += 1;
        true
    }

    fn digit(&self, at: i32) -> char {
        let digit = usize::try_from(at).ok().and_then(|at| self.digits.get(at)).copied();
        char::from(b'0' + digit.unwrap_or(0))
    }

    /// The digits before the point, at least `least` of them.
    pub(super) fn whole(&self, least: usize, grouped: bool) -> String {
        let mut digits: Vec<char> = (0..self.point.max(0)).map(|at| self.digit(at)).collect();
        while digits.first() == Some(&'0') {
            digits.remove(0);
        }
        while digits.len() < least {
            digits.insert(0, '0');
        }
        let mut out = String::new();
        for (at, digit) in digits.iter().enumerate() {
            if grouped && at > 0 && (digits.len() - at).is_multiple_of(3) {
                out.push(',');
            }
            out.push(*digit);
        }
        out
    }

    /// The digits after the point, without zeros at the end that need not be shown.
    pub(super) fn fraction(&self, most: usize, least: usize) -> String {
        let mut digits: String =
            (0..most).map(|at| self.digit(self.point.saturating_add(at as i32))).collect();
        while digits.len() > least && digits.ends_with('0') {
            digits.pop();
        }
        digits
    }
}
