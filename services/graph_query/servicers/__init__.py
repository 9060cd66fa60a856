"""The contract's servicers: one module per service or feature; `*_mapping` modules map messages and domain types."""
