//! The types of personal data.

use serde::{Deserialize, Serialize};

/// How a type is recognised; the tiers differ in how far they can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// By its own characters, often with check digits.
    Pattern,
    /// By lists of names and the words around it.
    Context,
}

macro_rules! kinds {
    ($($name:ident = $wire:literal, $tier:ident;)*) => {
        /// A type of personal data.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Kind {
            $(#[serde(rename = $wire)] $name,)*
        }

        impl Kind {
            /// All types.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $wire,)* }
            }

            /// How the type is recognised.
            pub fn tier(self) -> Tier {
                match self { $(Self::$name => Tier::$tier,)* }
            }
        }
    };
}

kinds! {
    EmailAddress = "EMAIL_ADDRESS", Pattern;
    PhoneNumber = "PHONE_NUMBER", Pattern;
    CreditCard = "CREDIT_CARD", Pattern;
    IbanCode = "IBAN_CODE", Pattern;
    UsSsn = "US_SSN", Pattern;
    IpAddress = "IP_ADDRESS", Pattern;
    MacAddress = "MAC_ADDRESS", Pattern;
    DomainName = "DOMAIN_NAME", Pattern;
    ZipCode = "ZIP_CODE", Pattern;
    UsDriverLicense = "US_DRIVER_LICENSE", Pattern;
    Crypto = "CRYPTO", Pattern;
    Secret = "SECRET", Pattern;
    UkNino = "UK_NINO", Pattern;
    BrCpf = "BR_CPF", Pattern;
    Person = "PERSON", Context;
    StreetAddress = "STREET_ADDRESS", Context;
    Gpe = "GPE", Context;
    Organization = "ORGANIZATION", Context;
    DateTime = "DATE_TIME", Context;
    Title = "TITLE", Context;
    Age = "AGE", Context;
    Nrp = "NRP", Context;
}

impl Kind {
    /// The type of a name on the wire.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}
