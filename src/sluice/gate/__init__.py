"""From the numbers of all reports to one verdict, with a reason for every check."""
