"""What others add: sources, alerts, figures and downloads, each in a process of its own."""
