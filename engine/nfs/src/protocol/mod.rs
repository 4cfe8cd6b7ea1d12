//! What goes over the wire: RFC 4506 (XDR), RFC 5531 (RPC), RFC 1813 (NFSv3 and MOUNT).

pub mod nfs3;
pub mod rpc;
pub mod xdr;
