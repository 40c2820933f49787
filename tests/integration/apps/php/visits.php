<?php
/* Counts the visits of a session; ?name= remembers a name, ?end ends it. */
session_start();
$_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
if (isset($_GET['name']))
    $_SESSION['name'] = $_GET['name'];
if (isset($_GET['renew']))
    session_regenerate_id(true);
echo $_SESSION['visits'], ' ', $_SESSION['name'] ?? '';
if (isset($_GET['end']))
    session_destroy();
