//! A fabric in virtual time: links, queues, hosts and traffic.
