//! One document model: Markdown and JSON in; Markdown and HTML out. Pure: knows neither files nor the network.
